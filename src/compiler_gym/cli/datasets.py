# SPDX-License-Identifier: MIT
"""``compiler-gym datasets``: list, install, remove, verify and sample; tools add more."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compiler_gym.cli.kit import completing as _completing
from compiler_gym.cli.kit.groups import CommandGroup
from compiler_gym.cli.kit.output import (
    Json,
    heading,
    open_pager,
    output,
    print_json,
    show,
    table,
)
from compiler_gym.cli.kit.programs import DEFAULT_ENVIRONMENT, EnvName, detect_suffix, open_datasets
from compiler_gym.errors import DatasetInitError
from compiler_gym.files import writing

if TYPE_CHECKING:
    from compiler_gym.datasets import Dataset

datasets = typer.Typer(
    name="datasets",
    cls=CommandGroup,
    help="List, install, remove, verify, import, build, export and sample datasets.",
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
)

Name = Annotated[
    str,
    typer.Argument(
        help="Name of a dataset, such as poj104-v1.", autocompletion=_completing.datasets
    ),
]
_ENV = DEFAULT_ENVIRONMENT
_WIDE = 140


@datasets.callback()
def default(context: typer.Context, env: EnvName = _ENV, json: Json = False) -> None:
    """List, install, remove, verify, import, build, export and sample datasets."""
    if context.invoked_subcommand is None:
        list_datasets(env, json)


@datasets.command("list")
def list_datasets(env: EnvName = _ENV, json: Json = False) -> None:
    """List the datasets with their size, licence and requirements."""
    with open_datasets(env) as catalogue:
        listed = [_facts(dataset) for dataset in catalogue.datasets(with_deprecated=True)]
    if json:
        print_json({"datasets": listed})
        return
    columns = ("Dataset", "Programs", "Size", "Licence", "Needs", "Description")
    wide = output().width >= _WIDE
    rows = table(*columns[: 6 if wide else 5], right=("Programs", "Size"), typed=("Dataset",))
    for fact in listed:
        if not fact["hidden"]:
            rows.add_row(*_cells(fact, wide=wide))
    with open_pager() as console:
        show(rows, console)
        console.print("Install one with:", heading("compiler-gym datasets install NAME"))


@datasets.command()
def install(name: Name, env: EnvName = _ENV, json: Json = False) -> None:
    """Download a dataset, so that it can be used offline."""
    with open_datasets(env) as catalogue:
        dataset = catalogue.dataset(name)
        dataset.install()
        _report_done(_facts(dataset), "is installed", json)


@datasets.command()
def remove(name: Name, env: EnvName = _ENV, json: Json = False) -> None:
    """Remove the files of a dataset."""
    with open_datasets(env) as catalogue:
        dataset = catalogue.dataset(name)
        if not dataset.has_site_data:
            raise DatasetInitError(f"{dataset.name} is bundled and cannot be removed")
        freed = dataset.site_data_size_in_bytes
        dataset.uninstall()
        if json:
            print_json({"name": dataset.name, "freed_bytes": freed})
        else:
            output().print(f"removed {dataset.name}: {_size(freed)} freed", soft_wrap=True)


@datasets.command()
def verify(
    names: Annotated[
        list[str] | None, typer.Argument(help="Datasets [default: all installed ones].")
    ] = None,
    env: EnvName = _ENV,
    json: Json = False,
) -> None:
    """Check installed files for changes; exit with status 1 if there are any."""
    with open_datasets(env) as catalogue:
        selected = [catalogue.dataset(name) for name in names or ()]
        for dataset in selected:
            if not _can_be_verified(dataset):
                raise DatasetInitError(f"{dataset.name} is not installed: nothing to verify")
        every = catalogue.datasets(with_deprecated=True)
        selected = selected or [d for d in every if d.has_site_data and _can_be_verified(d)]
        findings = {dataset.name: dataset.verify() for dataset in selected}
    if json:
        print_json({"datasets": findings})
    for name, changes in () if json else findings.items():
        output().print(f"{name}: {'unchanged' if not changes else ''}", soft_wrap=True)
        for finding in changes:
            output().print(f"  {finding}", soft_wrap=True)
    if any(findings.values()):
        raise typer.Exit(1)


@datasets.command()
def sample(
    name: Annotated[
        str | None, typer.Argument(help="Dataset [default: all installed ones].")
    ] = None,
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="Number of programs.")] = 10,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Random seed; the same seed makes the same choice.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--output", help="Write the programs to this folder.")
    ] = None,
    env: EnvName = _ENV,
    json: Json = False,
) -> None:
    """Choose programs at random and print their URIs."""
    from numpy.random import default_rng

    generator = default_rng(seed)
    programs: list[dict[str, Any]] = []
    with open_datasets(env) as catalogue:
        source = catalogue if name is None else catalogue.dataset(name)
        for _ in range(count):
            program = source.random_benchmark(generator)
            programs.append({"uri": str(program), "bytes": len(program.contents)})
            if folder is not None:
                programs[-1]["path"] = str(_write(folder.expanduser(), program))
    if json:
        print_json({"programs": programs})
        return
    for entry in programs:
        output().print(entry["uri"], soft_wrap=True)


def _can_be_verified(dataset: "Dataset") -> bool:
    return dataset.installed or bool(_damage(dataset))


def _damage(dataset: "Dataset") -> str:
    return getattr(dataset, "damage", "")


def _facts(dataset: "Dataset") -> dict[str, Any]:
    return {
        "name": dataset.name,
        "programs": dataset.size or None,
        "description": dataset.description,
        "license": dataset.license,
        "needs": dataset.needs,
        "installed": dataset.installed,
        "bytes": dataset.site_data_size_in_bytes,
        "validatable": dataset.validatable,
        "references": dataset.references,
        "hidden": dataset.hidden,
        "deprecated": dataset.deprecation_message,
        "damage": _damage(dataset),
    }


def _cells(fact: dict[str, Any], *, wide: bool) -> list[str]:
    stored = _size(fact["bytes"]) if fact["bytes"] or fact["needs"] else "bundled"
    size = stored if fact["installed"] else "-"
    no_number = "-" if fact["damage"] else "unlimited"
    programs = no_number if fact["programs"] is None else f"{fact['programs']:,}"
    needs = "nothing" if fact["installed"] else fact["needs"]
    name = fact["name"].removeprefix("benchmark://")
    if wide:
        return [name, programs, size, fact["license"], needs, fact["description"]]
    # The host is in the JSON output.
    return [name, programs, size, fact["license"], needs.partition(" from ")[0]]


def _report_done(fact: dict[str, Any], state: str, json: bool) -> None:
    if json:
        print_json(fact)
        return
    count = "unlimited programs" if fact["programs"] is None else f"{fact['programs']} programs"
    output().print(f"{fact['name']} {state}: {count}, {_size(fact['bytes'])}", soft_wrap=True)


def _size(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def _write(folder: Path, program: Any) -> Path:
    import re

    contents: bytes = program.contents
    name = re.sub(r"[^\w.-]+", "_", str(program).partition("://")[2])
    path = folder / (name + detect_suffix(contents))
    with writing(path, DatasetInitError):
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents)
    return path
