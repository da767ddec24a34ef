# SPDX-License-Identifier: MIT
"""Compile the sources of a binary with one GCC and flags, and link it the way its build did.

All output goes to a separate folder. Equal sources with equal flags are compiled only once.
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
from compiler_gym.tools.tune.builds import (
    Binary,
    Driver,
    Step,
    Unit,
    exchange_files,
    name_objects,
    run_command,
    symbols_beside,
)
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
"""Base level of all plans for size."""
SMALLEST, FASTEST = "gcc", "gcc fast"
"""Methods of a plan."""
LEFT_OUT = (
    "-flto", "-fno-lto", "-fuse-ld", "-fsanitize", "-fprofile", "-fcoverage", "--coverage",
    "-m32", "-mx32", "-fwhole-program", "-ffat-lto-objects", "-flinker-output", "-fuse-linker",
)  # fmt: skip
"""Flags of a build to omit, because the plan decides them or does not support them."""
_PARTITION = "-flto-partition="
"""Flag that affects only the link."""
_SEED = "-frandom-seed="
"""Makes the names that GCC generates for link-time optimisation reproducible."""
_CLANGS = ("-Xclang", "-fno-validate-pch")


@dataclass(frozen=True, slots=True)
class Tools:
    """The commands of one installed GCC."""

    gcc: str
    gxx: str
    ar: str

    @classmethod
    def of(cls, gcc: str) -> "Tools":
        """Return the tools that belong to the compiler `gcc`, a name or a path.

        >>> Tools.of("no-such-gcc-99").ar
        'ar'
        """
        folder, slash, name = gcc.rpartition("/")
        first, _, last = name.rpartition("gcc")
        candidates = {tool: f"{folder}{slash}{first}{tool}{last}" for tool in ("g++", "gcc-ar")}
        installed = {tool: name for tool, name in candidates.items() if shutil.which(name)}
        # A GCC without C++ still compiles C, and reports missing tools itself.
        return cls(gcc, installed.get("g++", gcc), installed.get("gcc-ar", "ar"))

    @property
    def driver(self) -> Driver:
        """The driver that compiles and links."""
        return Driver((self.gcc,), (self.gxx,), ("-w",), (), LEFT_OUT, _CLANGS)


@dataclass(frozen=True, slots=True)
class Steps:
    """The commands that build one binary."""

    compile: dict[Unit, Step]
    archive: Sequence[Step]
    """Commands that make the build's archives again."""
    link: Step


def list_flags(plan: BinaryPlan) -> list[str]:
    """Return the compiler flags of `plan`, except those for its profile."""
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
    """Return the commands that build `output` from `binary` with `flags`, via `objects`."""
    common, names = _object_flags(flags), name_units(binary)
    compile_steps = {
        unit: Step(
            tools.driver.compile_words(
                unit, [*common, f"{_SEED}{number}", *unit_words(names[unit], common)], objects[unit]
            ),
            unit.command.cwd,
        )
        for number, unit in enumerate(binary.units)
    }
    exchange = exchange_files(binary, objects, folder / "archives", archiver=tools.ar)
    link_flags = [*flags, f"{_SEED}0", *linker]
    words = tools.driver.link_words(binary, exchange, link_flags, output, strip=strip)
    return Steps(compile_steps, exchange.steps, Step(words, binary.command.cwd))


def _object_flags(flags: Sequence[str]) -> list[str]:
    """Return the `flags` that affect compiling."""
    return [flag for flag in flags if not flag.startswith(_PARTITION)]


@dataclass(frozen=True, slots=True)
class GccMaker:
    """Builds one binary with different flags in a folder."""

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

        Raises `ProjectError` with GCC's message if it rejects the flags or fails.
        """
        output = self._output(name)
        self._make(output, flags, linker, jobs)
        return output

    def keep_symbols(self, name: str, plan: BinaryPlan, *, jobs: int = 1) -> None:
        """Link the binary of `plan` in the folder `name` again, keeping symbols, next to it."""
        output = symbols_beside(self._output(name))
        self._make(output, self._list_flags(plan), plan.linker, jobs, strip=False)

    def objects(self, flags: Sequence[str]) -> dict[Unit, Path]:
        """Return the path of each source's object when compiled with `flags`."""
        return name_objects(self.binary, self.folder / "objects" / self.key(flags))

    def _list_flags(self, plan: BinaryPlan) -> list[str]:
        """Return the compiler flags of `plan`, after unpacking its profile for GCC."""
        flags = list_flags(plan)
        if not plan.profile:
            return flags
        profile = Path(plan.profile)
        try:
            folder = self.folder / "profiles" / hash_file(profile)[:24]
        except OSError as error:
            raise ProjectError(
                f"{profile} is missing, but {plan.name} is built with it; keep the folder "
                f"'profiles' next to the plan ({error.strerror})"
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
        shared = self.folder / "objects" / self.key(flags)
        steps = build_steps(
            self.tools, self.binary, flags, linker, objects,
            folder=output.parent, output=output, strip=strip,
        )  # fmt: skip
        with self._locks.setdefault(shared.name, Lock()):
            if not (shared / "done").is_file():
                for path in objects.values():
                    path.parent.mkdir(parents=True, exist_ok=True)
                with ThreadPoolExecutor(jobs) as pool:
                    list(pool.map(Step.run, steps.compile.values()))
                (shared / "done").touch()
        for step in (*steps.archive, steps.link):
            step.run()

    def key(self, flags: Sequence[str]) -> str:
        """Return the name of the folder with the objects compiled with `flags`."""
        return hashlib.sha256("\0".join(_object_flags(flags)).encode()).hexdigest()[:24]

    def forget(self, keep: Sequence[Sequence[str]]) -> None:
        """Delete all objects except those compiled with `keep`, to save disk space."""
        kept_names = {self.key(flags) for flags in keep}
        for folder in _folders(self.folder / "objects"):
            if folder.name not in kept_names:
                shutil.rmtree(folder, ignore_errors=True)

    def strip_file(self, name: str, linked: Path) -> Path:
        """Return a copy of the file `linked` without symbols."""
        output = self.folder / name / Path(self.binary.name).name
        output.parent.mkdir(parents=True, exist_ok=True)
        if shutil.which("strip") is None:
            raise ProjectError("strip not found; install it with `apt install binutils`")
        run_command(["strip", "-s", str(linked), "-o", str(output)], self.folder)
        return output


def _folders(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from path.iterdir()
