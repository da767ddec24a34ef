# SPDX-License-Identifier: MIT
"""Run specifications of programs: arguments, input files and expected outputs.

These records are part of a benchmark. The compiler's plug-in builds and runs the program. For the
way to a worker they become MessagePack arrays of their fields, in order.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, get_type_hints, overload

from msgspec import msgpack

from compiler_gym.errors import BenchmarkInitError


@dataclass(frozen=True, slots=True)
class ExpectedOutput:
    """The expected result of one run; outputs are compared by their sha256.

    >>> ExpectedOutput.of(stdout=b"42\\n").differences(ExpectedOutput.of(stdout=b"41\\n"))
    ('standard output',)
    """

    exit_status: int = 0
    """The exit status of the program."""
    stdout: str | None = None
    """The sha256 of standard output, in hexadecimal; None accepts any."""
    files: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    """The sha256 of every file the program must write, by relative path; None if it must not write
    the file."""

    @classmethod
    def of(
        cls, exit_status: int = 0, *, stdout: bytes = b"", files: Mapping[str, bytes] | None = None
    ) -> "ExpectedOutput":
        """Return the expectation of exactly these outputs."""
        digests: dict[str, str | None] = {n: _sha256(data) for n, data in (files or {}).items()}
        return cls(exit_status, _sha256(stdout), digests)

    def differences(self, found: "ExpectedOutput") -> tuple[str, ...]:
        """Return a phrase for each difference of `found`; empty if it is as expected."""
        phrases: list[str] = []
        if self.exit_status != found.exit_status:
            phrases.append(f"exit status {found.exit_status} instead of {self.exit_status}")
        if self.stdout is not None and self.stdout != found.stdout:
            phrases.append("standard output")
        phrases += [f"file {n}" for n, digest in self.files.items() if found.files.get(n) != digest]
        return tuple(phrases)


@dataclass(frozen=True, slots=True)
class RunCase:
    """One run of a program, in a directory that contains only its input files.

    In `argv`, which excludes the program itself, ``{dir}`` stands for that directory.

        >>> case = RunCase(argv=("words.txt",), files={"words.txt": b"b\\na\\n"})
        >>> case.name
        'default'
    """

    argv: tuple[str, ...] = ()
    """The arguments after the program's own name."""
    files: Mapping[str, bytes | Path] = field(default_factory=dict[str, bytes | Path])
    """Input files by relative path: their bytes, or the path of a file to copy."""
    stdin: bytes = b""
    """The program's standard input."""
    outputs: tuple[str, ...] = ()
    """The files written by the program that count as its result."""
    expected: ExpectedOutput | None = None
    """The expected result; None compares with a reference build."""
    name: str = "default"
    """The name of the case in reports."""
    size: str = "default"
    """The size class, by run time, for example ``test``, ``small`` or ``ref``."""

    def write_files(self, directory: Path) -> None:
        """Create the input files below `directory`; reject names that point outside."""
        root = directory.resolve()
        for name, contents in self.files.items():
            path = (root / name).resolve()
            if not path.is_relative_to(root) or path == root:
                raise BenchmarkInitError(
                    f"the path of an input file points outside its directory: {name!r}"
                )
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(contents.read_bytes() if isinstance(contents, Path) else contents)


class GeneratedCases(Sequence[RunCase]):
    """Cases that are created lazily, because generating some inputs takes seconds.

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
        """Return the cases of one size class, without creating any."""
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
    """The cases of a program and the parameters to build and validate it.

    >>> spec = RunSpec.single(argv=("7",), expected=ExpectedOutput.of(stdout=b"13\\n"))
    >>> len(spec.cases), spec.time_limit
    (1, 10.0)
    """

    cases: Sequence[RunCase]
    """All cases, fastest first."""
    link: tuple[str, ...] = ()
    """The linker flags, for example ``("-lm",)``."""
    time_limit: float = 10.0
    """The number of seconds after which a run fails."""
    reference: bytes | None = None
    """A program with correct outputs, if it is not the unchanged benchmark."""
    more: Callable[[int], RunCase] | None = None
    """A function that generates a further case, without expected output, from its number."""
    generated: int = 1000
    """The largest number of mutated inputs that a validation tries; 0 forbids mutated inputs."""

    def __post_init__(self) -> None:
        if self.generated < 0:
            raise ValueError(f"generated must be at least 0 (got {self.generated})")

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
        """Return a specification with a single case."""
        case = RunCase(argv, files or {}, stdin, outputs, expected)
        return cls((case,), link=link, time_limit=time_limit)

    @property
    def is_judged(self) -> bool:
        """True if every case has an expected output."""
        return bool(self.cases) and all(case.expected is not None for case in self.cases)

    def of_size(self, size: str) -> "RunSpec":
        """Return the specification with the cases of one size class only."""
        if isinstance(self.cases, GeneratedCases):
            return replace(self, cases=self.cases.of_size(size))
        return replace(self, cases=tuple(case for case in self.cases if case.size == size))


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def pack_run(spec: RunSpec) -> bytes:
    """Return `spec` as bytes, including input files; this creates every case.

    >>> unpack_run(pack_run(RunSpec.single(argv=("7",)))).cases[0].argv
    ('7',)
    """
    cases = [_pack_record(case) for case in spec.cases]
    return msgpack.encode((cases, spec.link, spec.time_limit), enc_hook=_pack_value)


@lru_cache(maxsize=8)
def unpack_run(data: bytes) -> RunSpec:
    """Return the specification that `pack_run` encoded; raise `ValueError` for other bytes."""
    cases, link, time_limit = _decoder.decode(data)
    return RunSpec(tuple(map(_pack_case, cases)), link=link, time_limit=time_limit)


def _pack_record(record: RunCase | ExpectedOutput) -> list[Any]:
    values = (getattr(record, field.name) for field in fields(record))
    return [_pack_record(value) if isinstance(value, ExpectedOutput) else value for value in values]


def _pack_value(value: object) -> Any:
    """Return a MessagePack equivalent of a value that MessagePack cannot encode."""
    if isinstance(value, Path):
        return value.read_bytes()
    if isinstance(value, Mapping):
        return dict(value)  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]  # any mapping
    raise TypeError(f"a run specification cannot contain {value!r}")


def _pack_case(row: tuple[Any, ...]) -> RunCase:
    values = {field.name: value for field, value in zip(fields(RunCase), row, strict=True)}
    expected = values.pop("expected")
    return RunCase(expected=None if expected is None else ExpectedOutput(*expected), **values)


_Expected = tuple[*get_type_hints(ExpectedOutput).values()]
_AS_SENT = {"files": dict[str, bytes], "expected": _Expected | None}
"""The fields of a case whose encoded type differs: a file's bytes, not its path."""
_Case = tuple[*(get_type_hints(RunCase) | _AS_SENT).values()]
_Sent: Any = tuple[list[_Case], tuple[str, ...], float]
_decoder: "msgpack.Decoder[Any]" = msgpack.Decoder(_Sent)
