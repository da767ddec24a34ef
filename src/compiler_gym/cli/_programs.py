# SPDX-License-Identifier: MIT
"""Reads what the user calls a program: a URI, a path, or ``-`` for standard input."""

import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from compiler_gym.errors import BenchmarkInitError

if TYPE_CHECKING:
    from compiler_gym.core import CompilerEnv
    from compiler_gym.datasets import Benchmark

__all__ = ["ActionSpaceName", "EnvName", "ProgramName", "find_program"]

EnvName = Annotated[str, typer.Option("--env", help="The environment; see `compiler-gym envs`.")]
ProgramName = Annotated[
    str, typer.Argument(help="A URI (cbench-v1/qsort), a path (.c .cc .ll .bc) or -.")
]
ActionSpaceName = Annotated[
    str | None, typer.Option(help="The action space; see `compiler-gym describe`.")
]

_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
_IR = re.compile(rb"^(; ModuleID|source_filename *=|target (triple|datalayout) *=|define |declare "
                 rb"|@[\w.$-]+ *=|%[\w.$-]+ *= *type |!\w+ *= )", re.MULTILINE)  # fmt: skip
_SUFFIX = re.compile(r"\.(c|cc|cpp|cxx|C|c\+\+|i|ii|ll|bc)$")


def find_program(env: "CompilerEnv", name: str) -> "Benchmark":
    """Return the program `name`; raise `BenchmarkInitError` or `UnknownNameError`.

    A path may carry a query as a URI does: ``main.c?goal=speed``.
    """
    if name == "-" or name.startswith("-?"):
        return _from_stdin(env, name[1:])
    path, mark, query = name.partition("?")
    if "://" not in name and (Path(path).exists() or _looks_like_a_path(path)):
        if not Path(path).expanduser().exists():
            raise BenchmarkInitError(f"no such file: {path}")
        return env.datasets.benchmark(_file_uri(Path(path)) + mark + query)
    return env.datasets.benchmark(name)


def _from_stdin(env: "CompilerEnv", query: str) -> "Benchmark":
    from compiler_gym.datasets import BenchmarkUri

    data = sys.stdin.buffer.read()
    if not data.strip():
        raise BenchmarkInitError("standard input is empty: expected IR, bitcode or C source")
    with tempfile.TemporaryDirectory(prefix="compiler_gym-") as directory:
        path = Path(directory) / f"stdin{_suffix_of(data)}"
        path.write_bytes(data)
        program = env.datasets.benchmark(_file_uri(path))
    return program.with_uri(BenchmarkUri.from_string(f"benchmark://user-v0/stdin{query}"))


def _suffix_of(data: bytes) -> str:
    if data.startswith(_BITCODE):
        return ".bc"
    return ".ll" if _IR.search(data) else ".c"


def _looks_like_a_path(name: str) -> bool:
    return name.startswith(("/", "./", "../", "~")) or _SUFFIX.search(name) is not None


def _file_uri(path: Path) -> str:
    return f"file://{quote(str(path.expanduser().absolute()))}"
