# SPDX-License-Identifier: MIT
"""The functions of programs without names and constants, for comparing programs."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from compiler_gym.datasets import FunctionShape
from compiler_gym.envs.llvm.programs.kept import make_cached
from compiler_gym.envs.llvm.toolchain.engine import run_engine
from compiler_gym.errors import program_unreadable
from compiler_gym.files import hash_file

__all__ = ["find_shapes"]

_SHAPES = "function shapes, version 1"
_MOST_BYTES = 1 << 26
"""The most bytes of modules that one process of the engine reads."""
_decoder = msgspec.msgpack.Decoder(list[list[FunctionShape]])


def find_shapes(paths: Sequence[Path]) -> list[list[FunctionShape]]:
    """Return the functions of each bitcode file; results are cached.

    Raises `BenchmarkInitError` for a file that cannot be read.
    """
    shapes: list[list[FunctionShape]] = []
    for batch in _batches(paths):
        digests = [_file_digest(path) for path in batch]
        shapes += _decoder.decode(make_cached((_SHAPES, *digests), lambda: _read_in_engine(batch)))  # noqa: B023
    return shapes


def _read_in_engine(paths: Sequence[Path]) -> bytes:
    answers = run_engine("shapes", [path.read_bytes() for path in paths])
    rows = [msgspec.msgpack.decode(answer, type=list[FunctionShape]) for answer in answers]
    return msgspec.msgpack.encode(rows)


def _file_digest(path: Path) -> str:
    try:
        return hash_file(path)
    except OSError as error:
        raise program_unreadable(path, error) from error


def _batches(paths: Sequence[Path]) -> Iterator[list[Path]]:
    batch: list[Path] = []
    size = 0
    for path in paths:
        batch.append(path)
        size += path.stat().st_size if path.is_file() else 0
        if size >= _MOST_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
