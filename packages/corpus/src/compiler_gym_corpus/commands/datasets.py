# SPDX-License-Identifier: MIT
"""``compiler-gym datasets import``, ``export`` and ``build``."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from compiler_gym.cli.kit.completing import datasets as dataset_names
from compiler_gym.cli.kit.options import spread
from compiler_gym.cli.kit.output import Json, errors, output, print_json
from compiler_gym.cli.kit.programs import DEFAULT_ENVIRONMENT, EnvName, open_datasets
from compiler_gym.errors import DatasetInitError
from compiler_gym.options import PackageChoice, PackageLimits, ReadOptions
from compiler_gym_corpus.commands.importing import gather_packages, programs_at, starter

__all__ = ["build", "export", "import_dataset"]

_ENV = DEFAULT_ENVIRONMENT
_READ = ReadOptions()
_CHOICE = PackageChoice()
_LIMITS = PackageLimits()


@spread
def import_dataset(
    name: Annotated[str, typer.Argument(help="Name of the new dataset, such as mine-v0.")],
    path: Annotated[
        Path,
        typer.Argument(
            help="A directory, an archive, a Parquet or JSON lines file, "
            "compile_commands.json, or built packages."
        ),
    ],
    options: ReadOptions = _READ,
    description: Annotated[str, typer.Option(help="One-line description of the programs.")] = "",
    linked: Annotated[
        bool, typer.Option(help="Link the files of each target in compile_commands.json.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            help="Start an episode on each program, and mark those that fail as unreadable."
        ),
    ] = False,
    env: EnvName = _ENV,
    json: Json = False,
) -> None:
    """Import programs as a dataset; an interrupted import can be resumed."""
    from compiler_gym.datasets import CorpusDataset, import_corpus
    from compiler_gym.files import site_data_path
    from compiler_gym_corpus.packages import holds_packages

    with open_datasets(env) as catalogue:
        if name in catalogue and not isinstance(catalogue.dataset(name), CorpusDataset):
            raise DatasetInitError(f"{name} is the name of an existing dataset; choose another")
    if holds_packages(path.expanduser()):
        summary = gather_packages(name, path.expanduser(), env, description)
        if json:
            print_json({field: getattr(summary, field) for field in summary.__dataclass_fields__})
        else:
            output().print(f"{name}: {summary}", soft_wrap=True)
        return
    with (
        programs_at(path.expanduser(), env, linked=linked) as (programs, failed),
        starter(env) if check else nullcontext() as try_start,
    ):
        report = import_corpus(
            name,
            programs,
            site_data_base=site_data_path(),
            options=options,
            description=description,
            check=try_start,
        )
    report.unreadable += len(failed)
    report.problems += failed
    if json:
        print_json({field: getattr(report, field) for field in report.__dataclass_fields__})
        return
    output().print(f"{name}: {report}", soft_wrap=True)
    for key, reason in report.problems:
        errors().print(f"  cannot read {key}: {reason}", soft_wrap=True, style="dim")


def export(
    name: Annotated[
        str,
        typer.Argument(help="Name of a dataset, such as poj104-v1.", autocompletion=dataset_names),
    ],
    path: Annotated[
        Path, typer.Argument(help="Parquet file to write, or a folder for one file per split.")
    ],
    limit: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of programs per file.")
    ] = None,
    env: EnvName = _ENV,
    json: Json = False,
) -> None:
    """Write the programs of a dataset to Parquet: a file, or a folder of splits with a card."""
    from compiler_gym.datasets import export_folder, export_parquet

    with open_datasets(env) as catalogue:
        dataset = catalogue.dataset(name)
        dataset.install()
        write = export_parquet if path.suffix == ".parquet" else export_folder
        count = write(dataset, path.expanduser(), limit=limit)
    if json:
        print_json({"name": dataset.name, "path": str(path), "programs": count})
    else:
        output().print(f"{count} programs of {dataset.name} written to {path}", soft_wrap=True)


@spread
def build(
    distribution: Annotated[str, typer.Argument(help="Distribution: debian.")],
    folder: Annotated[Path, typer.Option("--output", help="Output folder.")],
    choice: PackageChoice = _CHOICE,
    jobs: Annotated[int, typer.Option(min=1, help="Number of packages to build in parallel.")] = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Resume an interrupted build.")] = False,
    install_dependencies: Annotated[
        bool,
        typer.Option(
            "--install-dependencies",
            help="Install build dependencies on this machine (needs root) instead of in "
            "unpacked trees.",
        ),
    ] = False,
    ray: Annotated[
        str | None,
        typer.Option(help="Build on a Ray cluster: its address, auto or local.", metavar="ADDRESS"),
    ] = None,
    limits: PackageLimits = _LIMITS,
    env: EnvName = _ENV,
    json: Json = False,
) -> None:
    """Build a distribution's packages in a sandbox and keep their modules and programs."""
    from msgspec import to_builtins

    from compiler_gym_corpus.commands.packages import (
        Distribution,
        build_with_progress,
        builder_for,
        lock_for,
        show_outcomes,
    )
    from compiler_gym_corpus.packages import open_output

    target = Distribution(distribution, env)
    folder = folder.expanduser().absolute()
    lock = lock_for(target, choice)
    with open_output(folder, lock, resume=resume):
        builder = builder_for(target, lock, folder, limits, installs=install_dependencies)
        results = build_with_progress(lock, builder, jobs=jobs, ray=ray)
    if json:
        omitted = ("modules", "programs", "build_depends", "log_tail")
        rows = [
            {name: value for name, value in to_builtins(result).items() if name not in omitted}
            | {"modules": len(result.modules), "programs": len(result.programs)}
            for result in results
        ]
        print_json({"output": str(folder), "packages": rows})
    else:
        show_outcomes(results, folder)
