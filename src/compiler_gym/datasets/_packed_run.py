# SPDX-License-Identifier: MIT
"""How to run a program, as bytes that cross the border to a worker."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from msgspec import Struct, msgpack

from compiler_gym.datasets.run_spec import ExpectedOutput, RunCase, RunSpec

__all__ = ["pack_run", "unpack_run"]


class _Expected(Struct, array_like=True):
    exit_status: int
    stdout: str | None
    files: dict[str, str]


class _Case(Struct, array_like=True):
    argv: tuple[str, ...]
    files: dict[str, bytes]
    stdin: bytes
    outputs: tuple[str, ...]
    expected: _Expected | None
    name: str
    size: str


class _Run(Struct, array_like=True):
    cases: list[_Case]
    link: tuple[str, ...]
    time_limit: float


def pack_run(spec: RunSpec) -> bytes:
    """Return `spec` as bytes, input files included; every case is made for that.

    >>> unpack_run(pack_run(RunSpec.single(argv=("7",)))).cases[0].argv
    ('7',)
    """
    cases = [_packed(case) for case in spec.cases]
    return msgpack.encode(_Run(cases, tuple(spec.link), spec.time_limit))


@lru_cache(maxsize=8)
def unpack_run(data: bytes) -> RunSpec:
    """Return what `pack_run` made bytes of; raise `ValueError` for other bytes."""
    run = msgpack.decode(data, type=_Run)
    return RunSpec(tuple(map(_unpacked, run.cases)), link=run.link, time_limit=run.time_limit)


def _packed(case: RunCase) -> _Case:
    want = case.expected
    expected = want and _Expected(want.exit_status, want.stdout, dict(want.files))
    files = _contents(case.files)
    return _Case(case.argv, files, case.stdin, case.outputs, expected, case.name, case.size)


def _contents(files: Mapping[str, bytes | Path]) -> dict[str, bytes]:
    return {
        name: source.read_bytes() if isinstance(source, Path) else source
        for name, source in files.items()
    }


def _unpacked(case: _Case) -> RunCase:
    want = case.expected
    expected = want and ExpectedOutput(want.exit_status, want.stdout, want.files)
    return RunCase(case.argv, case.files, case.stdin, case.outputs, expected, case.name, case.size)
