# SPDX-License-Identifier: MIT
"""Compile the sources of a binary with one GCC and flags, and link it as its build did.

Everything is written to a folder of ours. Equal sources with equal flags are compiled once.
"""

import hashlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from compiler_gym.errors import ProjectError
from compiler_gym.files import hash_file
from compiler_gym.tools.tune import BinaryPlan
from compiler_gym.tools.tune.builds import Binary, Driver, Input, Unit, run_command, symbols_beside
from compiler_gym.tools.tune.gcc.choices import FAST
from compiler_gym.tools.tune.gcc.profiling import name_units, profile_flags, unit_words, unpack

__all__ = [
    "BASE",
    "FASTEST",
    "LEFT_OUT",
    "SMALLEST",
    "GccMaker",
    "Tools",
    "build_steps",
    "list_flags",
]

BASE = "-Os"
"""What a plan for size without a decision compiles with."""
SMALLEST, FASTEST = "gcc", "gcc fast"
"""Methods of a plan."""
LEFT_OUT = (
    "-flto", "-fno-lto", "-fuse-ld", "-fsanitize", "-fprofile", "-fcoverage", "--coverage",
    "-m32", "-mx32", "-fwhole-program", "-ffat-lto-objects", "-flinker-output", "-fuse-linker",
)  # fmt: skip
"""Flags of a build that decide what we are to decide, or that we do not carry through."""
_PARTITION = "-flto-partition="
"""Is read by the link alone."""
_SEED = "-frandom-seed="
"""Names that GCC makes up for link-time optimisation would differ from run to run."""
_CLANGS = ("-Xclang", "-fno-validate-pch")


@dataclass(frozen=True, slots=True)
class Tools:
    """The commands of one installed GCC."""

    gcc: str
    gxx: str
    ar: str

    @classmethod
    def of(cls, gcc: str) -> "Tools":
        """Return those that belong to the compiler `gcc`: a name or a path.

        >>> Tools.of("no-such-gcc-99").ar
        'ar'
        """
        folder, slash, name = gcc.rpartition("/")
        first, _, last = name.rpartition("gcc")
        named = {tool: f"{folder}{slash}{first}{tool}{last}" for tool in ("g++", "gcc-ar")}
        found = {tool: name for tool, name in named.items() if shutil.which(name)}
        # A GCC without C++ compiles C all the same, and says itself what it misses.
        return cls(gcc, found.get("g++", gcc), found.get("gcc-ar", "ar"))

    @property
    def driver(self) -> Driver:
        """How objects and linked files are made."""
        return Driver((self.gcc,), (self.gxx,), ("-w",), (), LEFT_OUT, _CLANGS)


@dataclass(frozen=True, slots=True)
class Step:
    """One command, and where it is run."""

    words: list[str]
    cwd: Path


@dataclass(frozen=True, slots=True)
class Steps:
    """The commands that make one binary."""

    compile: dict[Unit, Step]
    archive: list[Step]
    """GNU ld takes what is needed of an archive alone: those of the build are made again."""
    link: Step


def list_flags(plan: BinaryPlan) -> list[str]:
    """Return what the compiler is told by `plan`, but for its profile."""
    return [*(FAST if plan.method == FASTEST else (BASE,)), *plan.flags]


def build_steps(
    tools: Tools,
    binary: Binary,
    flags: Sequence[str],
    linker: Sequence[str],
    objects: Mapping[Unit, Path],
    *,
    folder: Path,
    output: Path,
    strip: bool = True,
) -> Steps:
    """Return what makes `output` of `binary` with `flags`, by way of `objects`."""
    told, names = _object_flags(flags), name_units(binary)
    compiled = {
        unit: Step(
            tools.driver.compile_words(
                unit, [*told, f"{_SEED}{number}", *unit_words(names[unit], told)], objects[unit]
            ),
            unit.command.cwd,
        )
        for number, unit in enumerate(binary.units)
    }
    archives: dict[str, Path] = {}
    packing: list[Step] = []
    for input in binary.inputs:
        if input.is_lazy and input.units and input.word not in archives:
            path = folder / f"{len(archives)}.a"
            archives[input.word] = path
            members = [str(objects[unit]) for unit in dict.fromkeys(input.units)]
            packing.append(Step([tools.ar, "rcsD", str(path), *members], folder))

    def place(input: Input) -> list[str]:
        if input.word in archives:
            return [str(archives[input.word])]
        return [str(objects[unit]) for unit in dict.fromkeys(input.units)]

    linked = [*flags, f"{_SEED}0", *linker]
    words = tools.driver.link_words(binary, place, linked, output, strip=strip)
    return Steps(compiled, packing, Step(words, binary.command.cwd))


def _object_flags(flags: Sequence[str]) -> list[str]:
    """Return what of `flags` every source is compiled with."""
    return [flag for flag in flags if not flag.startswith(_PARTITION)]


@dataclass(frozen=True, slots=True)
class GccMaker:
    """Makes one binary with this and that."""

    tools: Tools
    binary: Binary
    folder: Path
    _locks: dict[str, Lock] = field(default_factory=dict[str, Lock])

    def make_plan(self, name: str, plan: BinaryPlan, *, jobs: int = 1) -> Path:
        """Return the stripped binary of `plan`, in the folder `name`."""
        return self.make(name, self._list_flags(plan), plan.linker, jobs=jobs)

    def make(
        self, name: str, flags: Sequence[str], linker: Sequence[str], *, jobs: int = 1
    ) -> Path:
        """Return the stripped binary, in the folder `name`.

        Raises `ProjectError` with GCC's own words where it refuses the flags or fails.
        """
        output = self._output(name)
        self._make(output, flags, linker, jobs)
        return output

    def keep_symbols(self, name: str, plan: BinaryPlan, *, jobs: int = 1) -> None:
        """Link what `plan` made in the folder `name` once more, with symbols, beside it."""
        output = symbols_beside(self._output(name))
        self._make(output, self._list_flags(plan), plan.linker, jobs, strip=False)

    def objects(self, flags: Sequence[str]) -> dict[Unit, Path]:
        """Return where the object of each source lies that is compiled with `flags`."""
        kept = self.folder / "objects" / self.key(flags)
        units = self.binary.units
        return {unit: kept / f"{n}-{unit.path.stem}.o" for n, unit in enumerate(units)}

    def _list_flags(self, plan: BinaryPlan) -> list[str]:
        """Return what the compiler is told by `plan`; its profile is where GCC can read it."""
        flags = list_flags(plan)
        if not plan.profile:
            return flags
        profile = Path(plan.profile)
        try:
            folder = self.folder / "profiles" / hash_file(profile)[:24]
        except OSError as error:
            raise ProjectError(
                f"{profile} is missing, which {plan.name} is built with: keep the folder "
                f"profiles beside the plan: {error.strerror}"
            ) from error
        with self._locks.setdefault(folder.name, Lock()):
            if not folder.is_dir():
                unpack(profile, folder)
        return [*flags, *profile_flags(folder)]

    def _output(self, name: str) -> Path:
        return self.folder / name / Path(self.binary.name).name

    def _make(
        self,
        output: Path,
        flags: Sequence[str],
        linker: Sequence[str],
        jobs: int,
        *,
        strip: bool = True,
    ) -> None:
        output.parent.mkdir(parents=True, exist_ok=True)
        objects = self.objects(flags)
        kept = self.folder / "objects" / self.key(flags)
        steps = build_steps(
            self.tools, self.binary, flags, linker, objects,
            folder=output.parent, output=output, strip=strip,
        )  # fmt: skip
        with self._locks.setdefault(kept.name, Lock()):
            if not (kept / "done").is_file():
                kept.mkdir(parents=True, exist_ok=True)
                with ThreadPoolExecutor(jobs) as pool:
                    list(pool.map(_run, steps.compile.values()))
                (kept / "done").touch()
        for step in steps.archive:
            Path(step.words[2]).unlink(missing_ok=True)
            _run(step)
        _run(steps.link)

    def key(self, flags: Sequence[str]) -> str:
        """Return the name of what is compiled with `flags`."""
        return hashlib.sha256("\0".join(_object_flags(flags)).encode()).hexdigest()[:24]

    def forget(self, keep: Sequence[Sequence[str]]) -> None:
        """Delete objects, less those compiled with one of `keep`: they would fill the disk."""
        wanted = {self.key(flags) for flags in keep}
        for folder in _folders(self.folder / "objects"):
            if folder.name not in wanted:
                shutil.rmtree(folder, ignore_errors=True)

    def strip_file(self, name: str, linked: Path) -> Path:
        """Return a copy of the file `linked` without symbols."""
        output = self.folder / name / Path(self.binary.name).name
        output.parent.mkdir(parents=True, exist_ok=True)
        if shutil.which("strip") is None:
            raise ProjectError("expected strip: `apt install binutils`")
        run_command(["strip", "-s", str(linked), "-o", str(output)], self.folder)
        return output


def _run(step: Step) -> None:
    run_command(step.words, step.cwd)


def _folders(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from path.iterdir()
