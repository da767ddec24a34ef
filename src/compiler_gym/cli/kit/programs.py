# SPDX-License-Identifier: MIT
"""Reads the arguments for programs and for recorded states.

A program is a URI, a path, or ``-`` for standard input.
"""

import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compiler_gym.cli.kit import completing as _completing
from compiler_gym.cli.kit.options import make_arguments
from compiler_gym.errors import BenchmarkInitError, BenchmarkNotFoundError, UnknownNameError
from compiler_gym.files import scratch_directory
from compiler_gym.registration import default_environment, make, program_formats

if TYPE_CHECKING:
    from compiler_gym.core import CompilerEnv, CompilerEnvState
    from compiler_gym.datasets import Benchmark, Datasets
    from compiler_gym.errors import StateFileError
    from compiler_gym.options import Limits

__all__ = [
    "DEFAULT_ENVIRONMENT",
    "SUFFIXES",
    "ActionSpaceName",
    "EnvName",
    "ProgramName",
    "RewardName",
    "StateFiles",
    "StatesEnvName",
    "detect_suffix",
    "env_for",
    "files_below",
    "find_program",
    "open_datasets",
    "program_name",
    "read_states",
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
    try:
        return env.datasets.benchmark(name)
    except UnknownNameError as error:
        if "/" in name:
            raise
        raise BenchmarkNotFoundError(f"no file {path!r}, and {error}") from error


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
    with make(env) as environment:
        yield environment.datasets


StateFiles = Annotated[
    list[str],
    typer.Argument(help="Files with states (CSV or JSON lines): paths, https:// addresses or -."),
]
StatesEnvName = Annotated[
    str | None,
    typer.Option(
        "--env", help=f"The environment [default: the state's own, or {default_environment()}]."
    ),
]
RewardName = Annotated[
    str | None,
    typer.Option("--reward", help="Reward space for states that do not name one."),
]


def read_states(
    paths: Iterable[str],
) -> "tuple[list[CompilerEnvState], StateFileError | None]":
    """Return the states in files, and the error that stopped the reading, if any."""
    from compiler_gym.core import CompilerEnvStateReader
    from compiler_gym.errors import StateFileError

    states: list[CompilerEnvState] = []
    try:
        states.extend(CompilerEnvStateReader.read_paths(paths))
    except StateFileError as error:
        return states, error
    return states, None


def env_for(
    environment: str | None, env: str | None, reward: str | None, limits: "Limits | None" = None
) -> "Callable[[], CompilerEnv]":
    """Return a function that makes the environment: the user's, the state's or the default."""
    options: dict[str, Any] = {} if reward is None else {"reward_space": reward}
    return lambda: make(
        env or environment or default_environment(), **make_arguments(None, limits), **options
    )


def program_name(uri: str) -> str:
    """Return the address of a program without the scheme that most have."""
    return uri.removeprefix("benchmark://")
