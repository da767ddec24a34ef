# SPDX-License-Identifier: MIT
"""Compile the sources of a binary with clang, and link it with lld the way its build did.

All output goes to a separate folder. From the project's tree only sources, headers and unrecorded
inputs are read.
"""

import contextlib
import hashlib
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from types import MappingProxyType

from compiler_gym.builds import SET_APART, is_listed
from compiler_gym.envs.llvm.toolchain import clang_command, name_package, tool_name
from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import BinaryPlan
from compiler_gym.tools.tune.builds import (
    Binary,
    Driver,
    Exchange,
    Unit,
    exchange_files,
    map_beside,
    name_objects,
)
from compiler_gym.tools.tune.builds import run_command as run
from compiler_gym.tools.tune.llvm.flags import FAST, FRAMED, POLICY_PASSES
from compiler_gym.tools.tune.llvm.plugin import (
    LinkCommand,
    adds_frames,
    load_words,
    plugin_environment,
)

_LLD = ("-fuse-ld=lld", "-Wl,-z,nostart-stop-gc")
"""Selects lld, and makes it keep sections referenced as ``__start_NAME``, as GNU ld does."""
SAMPLED = ".afdo"
"""The suffix of sample profiles; all others are instrumentation profiles."""
QUIET = ("-Qunused-arguments", "-w")
"""Options of clang against warnings about options that a step does not use."""
_PARTIAL = "partial-"
"""The prefix of files that are still being written."""
_LINK_TIME = "-flto"
"""Flag of the build to omit, because the plan decides it."""


def list_refused_flags(unit: Unit) -> list[str]:
    """Return the flags of `unit` that a plan cannot preserve."""
    return [word for word in unit.command.words if is_listed(word)]


@dataclass(frozen=True, slots=True)
class Linker:
    """Compiles and links one binary in a folder."""

    binary: Binary
    folder: Path
    jobs: int = 1
    _locks: dict[str, Lock] = field(default_factory=dict[str, Lock])
    _objects: dict[str, Mapping[Unit, Path]] = field(default_factory=dict[str, Mapping[Unit, Path]])

    def keep_file(self, name: str, make: Callable[[Path], object]) -> Path:
        """Return the file `name`; if it is missing, `make` writes it, once across all threads."""
        path = self.folder / "kept" / name
        with self._locks.setdefault(name, Lock()):
            if not path.is_file():
                path.parent.mkdir(parents=True, exist_ok=True)
                partial = path.with_name(f"{_PARTIAL}{name}")
                try:
                    make(partial)
                    partial.replace(path)
                finally:
                    partial.unlink(missing_ok=True)
        return path

    def forget(self, keep: Collection[str]) -> None:
        """Delete all kept files except those in `keep` and those still being written."""
        folder = self.folder / "kept"
        for path in folder.iterdir() if folder.is_dir() else ():
            if path.name not in keep and not path.name.startswith(_PARTIAL):
                path.unlink(missing_ok=True)

    def compile(self, name: str, flags: Sequence[str]) -> dict[Unit, Path]:
        """Return an object for each source, compiled with its own flags and then `flags`.

        Raises `ProjectError` with clang's message if one does not compile.
        """
        objects = name_objects(self.binary, self.folder / name)

        def compile_one(unit: Unit, path: Path) -> None:
            path.parent.mkdir(parents=True, exist_ok=True)
            run(compile_words(unit, flags, path), unit.command.cwd)

        with ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(compile_one, objects.keys(), objects.values()))
        return objects

    def compile_once(self, flags: Sequence[str]) -> Mapping[Unit, Path]:
        """Return the objects with `flags`, which are compiled once, also for several threads."""
        name = f"objects-{hashlib.sha256(repr([*flags]).encode()).hexdigest()[:12]}"
        with self._locks.setdefault(name, Lock()):
            if name not in self._objects:
                self._objects[name] = self.compile(name, flags)
        return self._objects[name]

    def link(
        self,
        name: str,
        objects: Mapping[Unit, Path],
        flags: Sequence[str],
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> Path:
        """Link `objects`, one for each source, and return the stripped file.

        `environment` holds more variables for the linker.
        """
        exchange = self.exchange(name, objects)
        for step in exchange.steps:
            step.run()
        return self._link(name, exchange, flags, environment)

    def link_plan(self, name: str, plan: BinaryPlan, *settings: str) -> Path:
        """Return the stripped file that `plan` produces with link-time optimisation.

        `settings` are more settings of the plug-in. Objects are compiled again only for other
        flags. Raises `ProjectError` if the build fails.
        """
        flags = link_time_flags(plan)
        words = [*flags, *late_flags(plan)]
        objects = self.compile_once(flags)
        return self.link(name, objects, words, plugin_environment(plan, *settings))

    def exchange(self, name: str, objects: Mapping[Unit, Path]) -> Exchange:
        """Return the files that `link` links instead of those of the build."""
        return exchange_files(self.binary, objects, self.folder / name / "archives")

    def link_one(
        self, name: str, program: Path, units: Sequence[Unit], flags: Sequence[str]
    ) -> Path:
        """Link the object `program`, which holds all of `units`, and return the stripped file.

        The members of archives that it does not hold stay in them.
        """
        key = repr([(unit.path, unit.command.words) for unit in units])
        folder = self.folder / f"rest-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
        left_out = dict.fromkeys(units)
        exchange = exchange_files(self.binary, left_out, folder, program=program)
        with self._locks.setdefault(folder.name, Lock()):
            if not (folder / "done").is_file():
                folder.mkdir(parents=True, exist_ok=True)
                for step in exchange.steps:
                    step.run()
                (folder / "done").touch()
        return self._link(name, exchange, flags, {})

    def strip_file(self, name: str, linked: Path) -> Path:
        """Return a copy of the file `linked` without symbols."""
        output = self.folder / name / Path(self.binary.name).name
        output.parent.mkdir(parents=True, exist_ok=True)
        # llvm-strip rejects static programs that GNU ld linked; GNU strip accepts them.
        *preferred, last = _strips()
        for strip in preferred:
            with contextlib.suppress(ProjectError):
                run([strip, "-s", str(linked), "-o", str(output)], self.folder)
                return output
        run([last, "-s", str(linked), "-o", str(output)], self.folder)
        return output

    def _link(
        self, name: str, exchange: Exchange, flags: Sequence[str], environment: Mapping[str, str]
    ) -> Path:
        output = self.folder / name / Path(self.binary.name).name
        output.parent.mkdir(parents=True, exist_ok=True)
        words = link_words(self.binary, exchange, flags, output)
        map_words = ("-Xlinker", f"-Map={map_beside(output)}")
        LinkCommand((*words, *map_words), environment).run(self.binary.command.cwd)
        return output


def compile_words(unit: Unit, flags: Sequence[str], output: Path) -> list[str]:
    """Return the command that compiles `unit`, with `flags` after its own."""
    return _driver().compile_words(unit, flags, output)


def link_time_flags(plan: BinaryPlan) -> list[str]:
    """Return the flags for compiling and linking with a plan that uses link-time optimisation."""
    level = "-O3" if plan.method == FAST else "-Oz"
    # The plan's own passes must see the whole program as the front end produces it.
    is_unoptimised = plan.passes not in ("", POLICY_PASSES)
    front_end = ["-Xclang", "-disable-llvm-passes"] if is_unoptimised else []
    flags = [flag for flag in plan.flags if not adds_frames(plan) or flag not in FRAMED]
    return [level, "-flto", *front_end, *profile_flags(plan.profile), *flags]


def profile_flags(profile: str) -> list[str]:
    """Return the flags that use the file `profile`, by its suffix; none if it is empty."""
    if not profile:
        return []
    return [f"-fprofile-{'sample-' if profile.endswith(SAMPLED) else ''}use={profile}"]


def late_flags(plan: BinaryPlan) -> list[str]:
    """Return the flags for the link only, which is where such a plan generates code.

    It also needs the variables of `plugin_environment`.
    """
    pipeline = f"--lto-newpm-passes={plan.passes}"
    passes = ["-Xlinker", pipeline] if "," in pipeline else [f"-Wl,{pipeline}"]
    options = [f"-Wl,-mllvm,-{name}={value}" for name, value in plan.options.items()]
    return [
        *(passes if plan.passes else ()),
        *options,
        *plan.linker,
        *load_words(plan, "-Wl,--load-pass-plugin="),
    ]


def plain_words(plan: BinaryPlan) -> list[str]:
    """Return the command that compiles, links and strips any sources with such a plan."""
    clang = tool_name("clang")
    words = [clang, *link_time_flags(plan), *_LLD, *late_flags(plan), "-Wl,--strip-all"]
    return LinkCommand(tuple(words), plugin_environment(plan)).list_words()


def link_words(binary: Binary, exchange: Exchange, flags: Sequence[str], output: Path) -> list[str]:
    """Return the lld command that links `binary` to `output` with the files of `exchange`."""
    return _driver().link_words(binary, exchange, flags, output)


def _driver() -> Driver:
    clang = clang_command()
    return Driver(
        tuple(clang), (*clang, "--driver-mode=g++"), QUIET, _LLD, left_out=(_LINK_TIME, *SET_APART)
    )


def _strips() -> list[str]:
    paths = [path for path in map(shutil.which, (tool_name("llvm-strip"), "strip")) if path]
    if not paths:
        raise ProjectError(
            f"neither {tool_name('llvm-strip')} nor strip found; install one with "
            f"`apt install {name_package('llvm-strip')}`"
        )
    return paths
