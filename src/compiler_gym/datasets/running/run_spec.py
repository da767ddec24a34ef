# SPDX-License-Identifier: MIT
"""How to run a program: its arguments, its input files and what it must print.

These are records that travel with a benchmark. Building and running the program
is the work of the compiler's plug-in.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import overload

from compiler_gym.errors import BenchmarkInitError

__all__ = ["ExpectedOutput", "GeneratedCases", "RunCase", "RunSpec"]


@dataclass(frozen=True, slots=True)
class ExpectedOutput:
    """What one run must produce; outputs are compared by their sha256.

    >>> ExpectedOutput.of(stdout=b"42\\n").differences(ExpectedOutput.of(stdout=b"41\\n"))
    ('standard output',)
    """

    exit_status: int = 0
    """The status the program exits with."""
    stdout: str | None = None
    """The sha256 of standard output, in hexadecimal; None accepts any."""
    files: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    """The sha256 of every file the program must write, by its relative name; None for one that
    it must not write."""

    @classmethod
    def of(
        cls, exit_status: int = 0, *, stdout: bytes = b"", files: Mapping[str, bytes] | None = None
    ) -> "ExpectedOutput":
        """Return the expectation that a run repeats these outputs."""
        digests: dict[str, str | None] = {n: _sha256(data) for n, data in (files or {}).items()}
        return cls(exit_status, _sha256(stdout), digests)

    def differences(self, found: "ExpectedOutput") -> tuple[str, ...]:
        """Return what differs in `found`, as words; empty when it is as expected."""
        words: list[str] = []
        if self.exit_status != found.exit_status:
            words.append(f"exit status {found.exit_status} instead of {self.exit_status}")
        if self.stdout is not None and self.stdout != found.stdout:
            words.append("standard output")
        words += [f"file {n}" for n, digest in self.files.items() if found.files.get(n) != digest]
        return tuple(words)


@dataclass(frozen=True, slots=True)
class RunCase:
    """One run of a program, in an empty directory that holds its input files.

    In `argv`, ``{dir}`` stands for that directory; the program itself is not
    part of it.

        >>> case = RunCase(argv=("words.txt",), files={"words.txt": b"b\\na\\n"})
        >>> case.name
        'default'
    """

    argv: tuple[str, ...] = ()
    """The arguments after the program's own name."""
    files: Mapping[str, bytes | Path] = field(default_factory=dict[str, bytes | Path])
    """Input files by relative name: their bytes, or where to copy them from."""
    stdin: bytes = b""
    """What the program reads from standard input."""
    outputs: tuple[str, ...] = ()
    """The files the program writes that count as its result."""
    expected: ExpectedOutput | None = None
    """What it must produce; None compares with a reference build."""
    name: str = "default"
    """What the case is called in reports."""
    size: str = "default"
    """A class of running times, for example ``test``, ``small`` or ``ref``."""

    def write_files(self, directory: Path) -> None:
        """Create the input files below `directory`; refuse names that leave it."""
        root = directory.resolve()
        for name, contents in self.files.items():
            path = (root / name).resolve()
            if not path.is_relative_to(root) or path == root:
                raise BenchmarkInitError(f"an input file would leave its directory: {name!r}")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(contents.read_bytes() if isinstance(contents, Path) else contents)


class GeneratedCases(Sequence[RunCase]):
    """Cases that are made when they are looked at: inputs of some take seconds to make.

    >>> cases = GeneratedCases([("test", 0), ("ref", 0)], lambda size, i: RunCase(size=size))
    >>> len(cases), cases.of_size("ref")[0].size
    (2, 'ref')
    """

    def __init__(
        self, keys: Sequence[tuple[str, int]], make: Callable[[str, int], RunCase]
    ) -> None:
        self._keys = tuple(keys)
        self._make = make

    def of_size(self, size: str) -> "GeneratedCases":
        """Return the cases of one size class; none is made."""
        return GeneratedCases([key for key in self._keys if key[0] == size], self._make)

    @overload
    def __getitem__(self, index: int) -> RunCase: ...
    @overload
    def __getitem__(self, index: slice) -> "GeneratedCases": ...
    def __getitem__(self, index: int | slice) -> "RunCase | GeneratedCases":
        if isinstance(index, slice):
            return GeneratedCases(self._keys[index], self._make)
        return self._make(*self._keys[index])

    def __len__(self) -> int:
        return len(self._keys)


@dataclass(frozen=True, slots=True)
class RunSpec:
    """How to build, run and judge a program.

    >>> spec = RunSpec.single(argv=("7",), expected=ExpectedOutput.of(stdout=b"13\\n"))
    >>> len(spec.cases), spec.time_limit
    (1, 10.0)
    """

    cases: Sequence[RunCase]
    """Every known run, shortest first."""
    link: tuple[str, ...] = ()
    """What the linker needs, for example ``("-lm",)``."""
    time_limit: float = 10.0
    """Seconds after which a run has failed."""
    reference: bytes | None = None
    """A program whose outputs are right, where it is not the unchanged benchmark."""
    more: Callable[[int], RunCase] | None = None
    """Makes input number N of any number, where the program knows how; nothing is recorded."""
    generated: int = 1000
    """Changed inputs that a validation may try; 0 for a program that must be given no others."""

    def __post_init__(self) -> None:
        if self.generated < 0:
            raise ValueError(f"generated is {self.generated}: expected a number of inputs >= 0")

    @classmethod
    def single(
        cls,
        argv: tuple[str, ...] = (),
        *,
        files: Mapping[str, bytes | Path] | None = None,
        stdin: bytes = b"",
        outputs: tuple[str, ...] = (),
        expected: ExpectedOutput | None = None,
        link: tuple[str, ...] = (),
        time_limit: float = 10.0,
    ) -> "RunSpec":
        """Return how to run a program in one way."""
        case = RunCase(argv, files or {}, stdin, outputs, expected)
        return cls((case,), link=link, time_limit=time_limit)

    @property
    def is_judged(self) -> bool:
        """True if every case knows its expected output."""
        return bool(self.cases) and all(case.expected is not None for case in self.cases)

    def of_size(self, size: str) -> "RunSpec":
        """Return the same program with the cases of one size class only."""
        if isinstance(self.cases, GeneratedCases):
            return replace(self, cases=self.cases.of_size(size))
        return replace(self, cases=tuple(case for case in self.cases if case.size == size))


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
