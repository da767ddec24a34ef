# SPDX-License-Identifier: MIT
"""Reads program arguments: a URI, a path, or ``-`` for standard input."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compiler_gym.cli.kit import completing as _completing
from compiler_gym.errors import BenchmarkInitError, BenchmarkNotFoundError
from compiler_gym.files import scratch_directory
from compiler_gym.registration import default_environment, program_formats

if TYPE_CHECKING:
    from compiler_gym.core import CompilerEnv
    from compiler_gym.datasets import Benchmark, Datasets

__all__ = [
    "DEFAULT_ENVIRONMENT",
    "SUFFIXES",
    "ActionSpaceName",
    "EnvName",
    "ProgramName",
    "detect_suffix",
    "files_below",
    "find_program",
    "open_datasets",
]

DEFAULT_ENVIRONMENT = default_environment()
SUFFIXES = " ".join(format.suffixes[0] for format in program_formats())
"""The suffixes of program files, for messages."""
EnvName = Annotated[
    str,
    typer.Option(
        "--env",
        help="Environment; `compiler-gym envs` lists them.",
        autocompletion=_completing.environments,
        is_eager=True,  # other completions depend on it
    ),
]
ProgramName = Annotated[
    str,
    typer.Argument(
        help=f"A URI (cbench-v1/qsort), a path ({SUFFIXES}) or -.",
        autocompletion=_completing.programs,
    ),
]
ActionSpaceName = Annotated[
    str | None,
    typer.Option(
        help="Action space; `compiler-gym describe` lists them.",
        autocompletion=_completing.action_spaces,
        is_eager=True,
    ),
]


def find_program(env: "CompilerEnv", name: str) -> "Benchmark":
    """Return the program `name`; raise `BenchmarkInitError` or `UnknownNameError`.

    A path may have a query like a URI: ``main.c?goal=speed``.
    """
    if name == "-" or name.startswith("-?"):
        return _from_stdin(env, name[1:])
    from compiler_gym.datasets import path_and_query

    path, query = path_and_query(name)
    if "://" not in name and (Path(path).exists() or _looks_like_a_path(path)):
        if not Path(path).expanduser().exists():
            raise BenchmarkNotFoundError(f"no such file: {path}")
        return env.datasets.benchmark(_file_uri(Path(path)) + query)
    return env.datasets.benchmark(name)


def files_below(folder: Path) -> list[str]:
    """Return the addresses of the programs in a folder, in order; empty if it is not a folder.

    Raises `BenchmarkInitError` for a folder without programs.
    """
    if not folder.is_dir():
        return []
    suffixes = _every_suffix()
    paths = sorted(path for path in folder.rglob("*") if path.name.endswith(suffixes))
    if not paths:
        raise BenchmarkInitError(f"there is no program in {folder}: it must end with {SUFFIXES}")
    return [_file_uri(path) for path in paths]


def detect_suffix(contents: bytes) -> str:
    """Return the suffix of a file with these contents."""
    formats = sorted(program_formats(), key=lambda format: format.pattern is None)
    matching = (f for f in formats if f.pattern is None or f.pattern.search(contents))
    return next((format.suffixes[0] for format in matching), "")


def _from_stdin(env: "CompilerEnv", query: str) -> "Benchmark":
    from compiler_gym.datasets import BenchmarkUri

    data = sys.stdin.buffer.read()
    if not data.strip():
        raise BenchmarkInitError(f"standard input is empty: pass {_kinds()}")
    with scratch_directory("programs") as directory:
        path = Path(directory) / f"stdin{detect_suffix(data)}"
        path.write_bytes(data)
        program = env.datasets.benchmark(_file_uri(path))
    return program.with_uri(BenchmarkUri.from_string(f"benchmark://user-v0/stdin{query}"))


def _looks_like_a_path(name: str) -> bool:
    return name.startswith(("/", "./", "../", "~")) or name.endswith(_every_suffix())


def _every_suffix() -> tuple[str, ...]:
    return tuple(suffix for format in program_formats() for suffix in format.suffixes)


def _kinds() -> str:
    *names, last = (format.name for format in program_formats())
    return f"{', '.join(names)} or {last}" if names else last


def _file_uri(path: Path) -> str:
    from compiler_gym.datasets import quote_path

    return f"file://{quote_path(str(path.expanduser().absolute()))}"


@contextmanager
def open_datasets(env: str) -> "Generator[Datasets]":
    """Yield the datasets of the environment `env`."""
    from compiler_gym.registration import make

    with make(env) as environment:
        yield environment.datasets
