# SPDX-License-Identifier: MIT
"""Prepares and checks an import for ``compiler-gym datasets import``."""

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
    """Make the dataset `name` of a folder of built packages, and return what it has.

    The folder stays where it is: the dataset finds the trees there that its programs are tested in.
    """
    from compiler_gym.files import site_data_path
    from compiler_gym.tools.corpus.packages import gather_dataset

    builder = corpus_builder(env)
    if builder is None:
        raise DatasetInitError(
            f"{env} cannot read built packages: expected one whose compiler tells functions apart"
        )
    shapes = builder.find_shapes
    return gather_dataset(
        name, folder, site_data_base=site_data_path(), shapes=shapes, description=description
    )


@contextmanager
def programs_at(
    path: Path, env: str, *, linked: bool
) -> Generator[tuple[Path, list[tuple[str, str]]]]:
    """Yield the folder to import and the failures so far: a compilation database is compiled."""
    if path.name != "compile_commands.json":
        if linked:
            raise DatasetInitError(f"--linked needs a compile_commands.json, found {path}")
        yield path, []
        return
    programs, failed = _database_reader(env)(path, linked)
    with scratch_directory("import") as folder:
        for name, contents in programs.items():
            kept = Path(folder) / f"{name.lstrip('/').replace('../', '')}{detect_suffix(contents)}"
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(contents)
        yield Path(folder), failed


def _database_reader(env: str) -> Callable[[Path, bool], Any]:
    builder = corpus_builder(env)
    if builder is None:
        raise DatasetInitError(
            f"{env} cannot read a compile_commands.json: import programs or sources"
        )
    return builder.read_compilation_database


def corpus_builder(env: str) -> Any | None:
    """Return the part of the compiler of `env` that makes datasets, or None where it has none."""
    from compiler_gym.registration import find_compiler

    compiler = find_compiler(env)
    entry = None if compiler is None else parts("corpus_builders").get(compiler.name)
    return None if entry is None else entry.load()


@contextmanager
def starter(env: str) -> Generator[Callable[[bytes, str], str | None]]:
    """Give a check that starts a program in a worker and returns what is wrong, if anything."""
    from compiler_gym.registration import make

    with make(env) as made, scratch_directory("import") as folder:

        def problem(contents: bytes, suffix: str) -> str | None:
            path = Path(folder) / f"program{suffix}"
            path.write_bytes(contents)
            try:
                made.reset(benchmark=path.as_uri(), reward_space=None)
            except BenchmarkInitError as error:
                return str(error).replace(str(path), path.name)
            return None

        yield problem
