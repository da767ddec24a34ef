# SPDX-License-Identifier: MIT
"""Make the inputs of the bundled programs, run a program on one and compare what came out.

Inputs are generated at need from fixed seeds, so the wheel carries only their hashes. This file
is loaded by path, by `programs/build.py`, by the tests and by the library, so it uses the
standard library alone. It never compiles anything, and it draws no number from `random`, whose
sequences may change between versions of Python.
"""

import hashlib
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, MutableSequence, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

__all__ = ["SIZES", "Case", "Outcome", "Program", "Random", "load", "programs", "prose", "run"]

SIZES = ("test", "small", "ref")
"""Size classes: about 1 ms, 20 ms and 200 ms of run time at -O2."""

OUTPUT_LIMIT = 256 << 20
"""The largest file that a run may write; a miscompiled loop must not fill the disk."""

_MASK = (1 << 64) - 1
_T = TypeVar("_T")
_ONSETS = ("b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "st", "t", "th", "tr", "w")
_NUCLEI = ("a", "e", "i", "o", "u", "ai", "ea", "ou")
_CODAS = ("", "", "l", "n", "nd", "r", "s", "t", "ck")


class Random:
    """The splitmix64 generator: 64 bits of state, the same numbers on every machine.

    >>> Random(0).bits64() == 0xE220A8397B1DCDAF
    True
    """

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    @classmethod
    def named(cls, name: str) -> "Random":
        """Return the generator that belongs to `name`."""
        return cls(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big"))

    def bits64(self) -> int:
        """Return the next number in [0, 2**64)."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return mixed ^ (mixed >> 31)

    def below(self, limit: int) -> int:
        """Return a number in [0, limit); `limit` is at least 1 and well under 2**64."""
        return (self.bits64() * limit) >> 64

    def between(self, low: int, high: int) -> int:
        """Return a number in [low, high], both ends included."""
        return low + self.below(high - low + 1)

    def chance(self, part: int, whole: int) -> bool:
        """Return True in `part` of `whole` calls."""
        return self.below(whole) < part

    def fraction(self) -> float:
        """Return a float in [0, 1) with 53 random bits; exact, so the same everywhere."""
        return (self.bits64() >> 11) / (1 << 53)

    def data(self, length: int) -> bytes:
        """Return `length` random bytes."""
        words = (length + 7) // 8
        return b"".join(self.bits64().to_bytes(8, "little") for _ in range(words))[:length]

    def choice(self, items: Sequence[_T]) -> _T:
        """Return one of `items`."""
        return items[self.below(len(items))]

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Reorder `items` in place."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]


def prose(rng: Random, length: int) -> bytes:
    """Return `length` bytes of made-up ASCII text: few words often, many words seldom."""

    def word() -> str:
        syllables = 1 + rng.below(3)
        return "".join(
            rng.choice(_ONSETS) + rng.choice(_NUCLEI) + rng.choice(_CODAS) for _ in range(syllables)
        )

    vocabulary = [word() for _ in range(64 + min(length // 64, 2000))]
    pieces: list[str] = []
    size, column, capital = 0, 0, True
    while size < length:
        # The smaller of two draws favours the front of the list, as common words are favoured.
        piece = vocabulary[min(rng.below(len(vocabulary)), rng.below(len(vocabulary)))]
        if capital:
            piece = piece.capitalize()
        capital = rng.chance(1, 9)
        if capital:
            piece += rng.choice((".", ".", "!", "?"))
        elif rng.chance(1, 12):
            piece += ","
        column += len(piece) + 1
        piece += "\n" if column > 70 else " "
        column = 0 if column > 70 else column
        pieces.append(piece)
        size += len(piece)
    return "".join(pieces).encode()[:length]


@dataclass(frozen=True, slots=True)
class Case:
    """One input of a program: its files, its arguments and the files it is to write."""

    files: Mapping[str, bytes]
    """Contents by name, relative to the scratch folder in which the program runs."""
    argv: tuple[str, ...]
    """Arguments after the program's own name."""
    stdin: bytes = b""
    outputs: tuple[str, ...] = ()
    """Files to compare after the run, by name relative to the scratch folder."""

    def digest(self) -> str:
        """Return a hash of the whole input, which tells a changed generator from a bad run."""
        whole = hashlib.sha256(repr((self.argv, self.outputs)).encode())
        for name, content in [("", self.stdin), *sorted(self.files.items())]:
            whole.update(f"\n{name}\n{len(content)}\n".encode())
            whole.update(content)
        return whole.hexdigest()

    def write(self, folder: Path) -> None:
        """Write the input files into `folder`; a name that leaves it is refused."""
        for name, content in self.files.items():
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or not path.parts:
                raise ValueError(f"a case's file must lie in its own folder, found {name!r}")
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run left behind. Equal outcomes mean equal behaviour; `stderr` is not compared."""

    exit: int
    """The exit status, or minus the signal that ended the run."""
    stdout: str
    """The sha256 of standard output."""
    files: Mapping[str, str | None] = field(default_factory=dict)
    """The sha256 of each of the case's outputs; None where the run did not write it."""
    stderr: bytes = field(default=b"", compare=False)

    def to_json(self) -> dict[str, Any]:
        """Return the entry of `expected.json`."""
        return {"exit": self.exit, "stdout": self.stdout, "files": dict(self.files)}

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> "Outcome":
        """Return the outcome that an entry of `expected.json` describes."""
        return cls(entry["exit"], entry["stdout"], entry["files"])


def run(
    command: Sequence[str],
    case: Case,
    *,
    timeout: float = 60.0,
    environment: Mapping[str, str] | None = None,
) -> Outcome:
    """Run `command` on `case` in a fresh folder; `subprocess.TimeoutExpired` if it is too slow."""
    with tempfile.TemporaryDirectory(prefix="program-") as name, tempfile.TemporaryFile() as out:
        scratch = Path(name)
        case.write(scratch)
        process = subprocess.Popen(
            [*command, *case.argv],
            cwd=scratch,
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=subprocess.PIPE,
        )
        try:
            _limit_output(process.pid)
            _, errors = process.communicate(case.stdin, timeout=timeout)
        except BaseException:
            process.kill()
            process.communicate()
            raise
        out.seek(0)
        files = {output: _hash_file(scratch / output) for output in case.outputs}
        return Outcome(process.returncode, _hash(out.read()), files, errors)


def _limit_output(pid: int) -> None:
    limit = getattr(resource, "prlimit", None)
    if limit is None:
        return
    try:
        limit(pid, resource.RLIMIT_FSIZE, (OUTPUT_LIMIT, OUTPUT_LIMIT))
    except ProcessLookupError:
        pass


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _hash_file(path: Path) -> str | None:
    return _hash(path.read_bytes()) if path.is_file() else None


@dataclass(frozen=True, slots=True)
class Program:
    """One folder of `programs/`: its sources, its cases and what they must give."""

    folder: Path
    name: str
    description: str
    specification: str
    sources: tuple[str, ...]
    link: tuple[str, ...]
    argv: tuple[str, ...]
    """How to run it by hand: a template over {input}, {output} and {dir}."""
    counts: Mapping[str, int]
    """How many cases of each size `expected.json` covers; `case` makes any number."""
    make: Callable[[str, int, Random], Case]

    @classmethod
    def load(cls, folder: Path) -> "Program":
        """Read `program.toml` and `cases.py` of `folder`."""
        manifest = tomllib.loads((folder / "program.toml").read_text())
        cases = _import_cases(folder)
        return cls(
            folder=folder,
            name=manifest["name"],
            description=manifest["description"],
            specification=manifest["specification"],
            sources=tuple(manifest["sources"]),
            link=tuple(manifest.get("link", ())),
            argv=tuple(manifest["run"]["argv"]),
            counts=dict(cases.COUNTS),
            make=cases.case,
        )

    @property
    def bitcode(self) -> Path:
        """The committed bitcode, unoptimised."""
        return self.folder / f"{self.name}.bc"

    def case(self, size: str, index: int) -> Case:
        """Return case number `index` of a size class, the same on every call."""
        return self.make(size, index, Random.named(f"{self.name}/{size}/{index}"))

    def cases(self, size: str) -> Iterator[Case]:
        """Make the cases of a size class one by one."""
        return (self.case(size, index) for index in range(self.counts[size]))

    def expected(self, size: str) -> list[Outcome]:
        """Return the recorded outcomes of a size class, in the order of `cases`."""
        return [Outcome.from_json(entry) for entry in self.recorded(size)]

    def recorded(self, size: str) -> list[dict[str, Any]]:
        """Return the entries of `expected.json`, which also hold each input's hash."""
        return json.loads((self.folder / "expected.json").read_text())[size]


def programs(root: Path) -> list[Program]:
    """Load every program under `root`, in the order of their names."""
    return [Program.load(path.parent) for path in sorted(root.glob("*/program.toml"))]


def load(name: str, path: Path) -> Any:
    """Return the file at `path` as the module `name`: these folders are no package."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _import_cases(folder: Path) -> Any:
    # `from _cases import Case` in a cases.py must find this very module, however it was loaded.
    sys.modules.setdefault("_cases", sys.modules[__name__])
    return load(f"_cases_of_{folder.name}", folder / "cases.py")
