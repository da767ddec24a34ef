# SPDX-License-Identifier: MIT
"""Preparation and checks of imports for ``compiler-gym datasets import``."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from compiler_gym.cli.kit.programs import detect_suffix
from compiler_gym.errors import BenchmarkInitError, DatasetInitError
from compiler_gym.files import scratch_directory
from compiler_gym.lazy import parts

__all__ = ["corpus_builder", "gather_packages", "programs_at", "starter"]


def gather_packages(name: str, folder: Path, env: str, description: str) -> Any:
    """Create the dataset `name` from a folder of built packages and return a report.

    The dataset uses the built trees in the folder to test programs, so it must not be moved.
    """
    from compiler_gym.files import site_data_path
    from compiler_gym_corpus.packages import gather_dataset

    builder = corpus_builder(env)
    if builder is None:
        raise DatasetInitError(
            f"{env} cannot read built packages; choose another environment with --env"
        )
    shapes = builder.find_shapes
    return gather_dataset(
        name, folder, site_data_base=site_data_path(), shapes=shapes, description=description
    )


@contextmanager
def programs_at(
    path: Path, env: str, *, linked: bool
) -> Generator[tuple[Path, list[tuple[str, str]]]]:
    """Yield the path to import, and failures; compile the files of a compilation database."""
    if path.name != "compile_commands.json":
        if linked:
            raise DatasetInitError(f"--linked needs a compile_commands.json (got {path})")
        yield path, []
        return
    programs, failed = _database_reader(env)(path, linked)
    with scratch_directory("import") as folder:
        for name, contents in programs.items():
            file = Path(folder) / f"{name.lstrip('/').replace('../', '')}{detect_suffix(contents)}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(contents)
        yield Path(folder), failed


def _database_reader(env: str) -> Callable[[Path, bool], Any]:
    builder = corpus_builder(env)
    if builder is None:
        raise DatasetInitError(
            f"{env} cannot read a compile_commands.json; import programs or sources instead"
        )
    return builder.read_compilation_database


def corpus_builder(env: str) -> Any | None:
    """Return the dataset builder of the compiler of `env`, or None if it has none."""
    from compiler_gym.registration import find_compiler

    compiler = find_compiler(env)
    entry = None if compiler is None else parts("corpus_builders").get(compiler.name)
    return None if entry is None else entry.load()


@contextmanager
def starter(env: str) -> Generator[Callable[[bytes, str], str | None]]:
    """Yield a check that starts an episode on a program and returns the error, or None."""
    from compiler_gym.registration import make

    with make(env) as environment, scratch_directory("import") as folder:

        def problem(contents: bytes, suffix: str) -> str | None:
            path = Path(folder) / f"program{suffix}"
            path.write_bytes(contents)
            try:
                environment.reset(benchmark=path.as_uri(), reward_space=None)
            except BenchmarkInitError as error:
                return str(error).replace(str(path), path.name)
            return None

        yield problem
