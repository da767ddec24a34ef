# SPDX-License-Identifier: MIT
"""Compile the sources of a binary with clang, and link it as its build did, with lld.

Everything is written to a folder of ours; of the project's tree only sources, headers and
what nobody recorded are read.
"""

import contextlib
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from compiler_gym.builds import SET_APART, CompilerCommand, Mode, is_listed
from compiler_gym.envs.llvm.toolchain import clang_command, name_package, tool_name
from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import BinaryPlan, Measure, is_requested
from compiler_gym.tools.tune.builds import Binary, Driver, Input, Place, Unit, map_beside
from compiler_gym.tools.tune.builds import run_command as run

__all__ = [
    "FAST",
    "FOLDING",
    "FRAMES",
    "FRONT_END_FLAGS",
    "LLD_LAYOUT",
    "NATIVE",
    "PROGRAM",
    "QUIET",
    "SAMPLED",
    "SMALL",
    "TAILS",
    "Linker",
    "choose_front_end_flags",
    "choose_lld_layout",
    "command_with",
    "compile_words",
    "frame_words",
    "late_flags",
    "link_time_flags",
    "link_words",
    "list_refused_flags",
    "plain_words",
    "profile_flags",
    "run",
]

FOLDING = ("-Wl,--gc-sections", "-Wl,--icf=safe")
"""What a linker is told that leaves out what nobody uses and folds equal functions."""
TAILS = "-Wl,-O2"
"""Lets one string be the end of another."""
_SORTED = tuple(f"-Wl,--bp-compression-sort={kind}" for kind in ("function", "data", "both"))
LLD_LAYOUT = (TAILS, *_SORTED)
"""What only lld can be told: to let strings end in one another, and to sort for compression."""
FRAMES = "-fno-omit-frame-pointer"
"""Gives each function a frame pointer. Where the stack pointer moves, unwind tables need no entry
then, which is more than the code grows by: constants are pushed and popped to be small."""
FRONT_END_FLAGS = (FRAMES, "-fno-plt")
"""What the front end can be told besides: to call libraries without a stub for each function."""
SMALL, FAST = "link-time", "link-time fast"
"""Methods of a plan: clang's own way with the whole program, at -Oz and at -O3."""
PROGRAM = "program"
"""The method of a plan that makes one module of all sources."""
_EMBEDDED = ("-fno-lto", "-Xclang", "-fembed-bitcode=bitcode")
"""Puts the module of the front end beside the machine code of an object, for the compiled driver to
finish: any tool reads such an object, and the linker optimises the program."""
_WITHOUT_TABLE = "-fno-addrsig"
"""lld warns of the address table of an object that ``ld -r`` made. Whole-program optimisation makes
its own, and machine code without a table is not folded."""
_LLD = ("-fuse-ld=lld", "-Wl,-z,nostart-stop-gc")
"""The linker; as GNU's does, it keeps sections that a program finds by ``__start_NAME``."""
NATIVE = ("-Oz", "-fno-lto", *_LLD)
"""What links the machine code of objects, and compiles what is not compiled yet."""
SAMPLED = ".afdo"
"""How the name of a profile by sampling ends; others are of counters."""
QUIET = ("-Qunused-arguments", "-w")
_RELOCATABLE, _SHOWING = "-r", "-###"
_PARTIAL = "partial-"
"""How the name begins of what is being written: clang adds to it for a while."""
_LINK_TIME = "-flto"
"""A plan decides it: the build's own is left out."""


def list_refused_flags(unit: Unit) -> list[str]:
    """Return the flags of `unit` that a plan cannot honour."""
    return [word for word in unit.command.words if is_listed(word)]


@dataclass(frozen=True, slots=True)
class Linker:
    """Makes objects and linked files of one binary in a folder."""

    binary: Binary
    folder: Path
    jobs: int = 1
    _locks: dict[str, Lock] = field(default_factory=dict[str, Lock])

    def keep_file(self, name: str, make: Callable[[Path], object]) -> Path:
        """Return the file `name`, which `make` writes if it is not there, once for all threads."""
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
        """Delete every kept file that is none of `keep`, but none that is being written."""
        folder = self.folder / "kept"
        for path in folder.iterdir() if folder.is_dir() else ():
            if path.name not in keep and not path.name.startswith(_PARTIAL):
                path.unlink(missing_ok=True)

    def compile(self, name: str, flags: Sequence[str]) -> dict[Unit, Path]:
        """Return an object for each source, compiled with its own flags and then `flags`.

        Raises `ProjectError` with clang's own words where one does not compile.
        """
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        units = self.binary.units
        paths = [folder / f"{number}-{unit.path.stem}.o" for number, unit in enumerate(units)]

        def compile_one(unit: Unit, path: Path) -> None:
            run(compile_words(unit, flags, path), unit.command.cwd)

        with ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(compile_one, units, paths))
        return dict(zip(units, paths, strict=True))

    def link(
        self, name: str, objects: Mapping[Unit, Path], flags: Sequence[str], *, strip: bool = True
    ) -> Path:
        """Return the file linked of `objects`, one for each source, stripped unless told."""
        return self._link(name, lambda input: _list_arguments(input, objects), flags, strip=strip)

    def link_one(self, name: str, module: Path, flags: Sequence[str]) -> Path:
        """Return the stripped file linked of the one object `module`, which holds all sources."""
        first = next(input for input in self.binary.inputs if input.units)
        return self._link(
            name, lambda input: [str(module)] if input is first else [], flags
        )  # fmt: skip

    def strip_file(self, name: str, linked: Path) -> Path:
        """Return a copy of the file `linked` without symbols."""
        output = self.folder / name / Path(self.binary.name).name
        output.parent.mkdir(parents=True, exist_ok=True)
        # llvm-strip refuses static programs that GNU ld linked; GNU strip takes them.
        *others, last = _strips()
        for strip in others:
            with contextlib.suppress(ProjectError):
                run([strip, "-s", str(linked), "-o", str(output)], self.folder)
                return output
        run([last, "-s", str(linked), "-o", str(output)], self.folder)
        return output

    def _link(self, name: str, place: Place, flags: Sequence[str], *, strip: bool = True) -> Path:
        output = self.folder / name / Path(self.binary.name).name
        output.parent.mkdir(parents=True, exist_ok=True)
        words = link_words(self.binary, place, flags, output, strip=strip)
        run([*words, f"-Wl,-Map={map_beside(output)}"], self.binary.command.cwd)
        return output


def compile_words(unit: Unit, flags: Sequence[str], output: Path) -> list[str]:
    """Return the command that compiles `unit`, with `flags` after its own."""
    return _driver().compile_words(unit, flags, output)


def choose_lld_layout(binary: Binary, measure: Measure) -> list[str]:
    """Return what of `LLD_LAYOUT` is worth a try."""
    sorted_too = measure is Measure.COMPRESSED
    words = [word for word in LLD_LAYOUT if sorted_too or word not in _SORTED]
    return [word for word in words if not is_requested(binary, word)]


def choose_front_end_flags(binary: Binary) -> list[str]:
    """Return what of `FRONT_END_FLAGS` changes nothing that `binary` may rely on.

    Without stubs all functions are looked up at the start: a library may lack one that it never
    calls, unless its build says that all are looked up then.
    """
    is_early = any("now" in word.split(",") for word in binary.command.link_flags)
    return [flag for flag in FRONT_END_FLAGS if flag == FRAMES or is_early or not binary.is_shared]


def link_time_flags(plan: BinaryPlan) -> list[str]:
    """Return what compiling and linking are told by a plan that clang's own way carries out."""
    level = "-O3" if plan.method == FAST else "-Oz"
    # Passes of its own see the whole program as the front end leaves it.
    front_end = ["-Xclang", "-disable-llvm-passes"] if plan.passes else []
    return [level, "-flto", *front_end, *profile_flags(plan.profile), *plan.flags]


def profile_flags(profile: str) -> list[str]:
    """Return what uses the file `profile`, which may be none: its suffix says how it was made."""
    if not profile:
        return []
    return [f"-fprofile-{'sample-' if profile.endswith(SAMPLED) else ''}use={profile}"]


def late_flags(plan: BinaryPlan) -> list[str]:
    """Return what linking alone is told by such a plan: there the code generator runs."""
    passes = [f"-Wl,--lto-newpm-passes={plan.passes}"] if plan.passes else []
    options = [f"-Wl,-mllvm,-{name}={value}" for name, value in plan.options.items()]
    return [*passes, *options, *plan.linker]


def frame_words(functions: Iterable[str], path: Path) -> list[str]:
    """Return what tells a linker to do as `FRAMES` does for `functions` that were compiled without.

    The file `path` is written for it.
    """
    path.write_text("".join(f"{name},frame-pointer=all\n" for name in functions), errors="replace")
    return [f"-Wl,-mllvm,-forceattrs-csv-path={path}"]


def plain_words(plan: BinaryPlan) -> list[str]:
    """Return the command of such a plan for any sources: compile, link and strip in one."""
    clang = tool_name("clang")
    return [clang, *link_time_flags(plan), *_LLD, *late_flags(plan), "-Wl,--strip-all"]


def command_with(plan: BinaryPlan, compiler: Sequence[str], command: CompilerCommand) -> list[str]:
    """Return `command` by `compiler` with what such a plan says of compiling and of linking.

    Symbols stay where they are. Answers to questions are made without the plan, and so is what asks
    for passes of clang's own, as a sanitizer does, and what another linker links. An object holds
    machine code, too: the compiled driver has to finish it.
    """
    arguments = command.words[1:]
    if _SHOWING in arguments:  # what it would run
        words = [word for word in command.words if word != _SHOWING]
        command = CompilerCommand.parse(words, command.cwd)
    linker = _LLD[:1] if command.other_linker is None else ()
    links = command.mode is Mode.PROGRAM or (not command.sources and _asks_linker(arguments))
    if command.is_set_apart:
        return [*compiler, *(linker if links else ()), *arguments]
    level, *_ = link_time_flags(plan)
    # First, so that the build's own options for the linker count: the last of two does.
    before = [*_LLD[1:]] if links and linker else []
    if links and (_is_linked_plainly(command) or command.mode is not Mode.PROGRAM):
        flags = [level, "-fno-lto", *linker]
    elif links:
        before += ["-Wl,--fat-lto-objects", *late_flags(plan)]
        flags = [*link_time_flags(plan), *linker]
    elif command.mode is Mode.OBJECT and not command.emits_ir:
        flags = [level, *_EMBEDDED, *plan.flags]
        if not plan.passes or plan.profile:  # each file is optimised first, as clang does
            flags = [*link_time_flags(plan), "-ffat-lto-objects"]
        flags.append(_WITHOUT_TABLE)
    else:
        flags = [level] if command.uses_header else []
    if not flags:
        return [*compiler, *arguments]
    # Last, because the last of two levels counts; but behind a -- there are only files.
    end = arguments.index("--") if "--" in arguments else len(arguments)
    quiet = ("--start-no-unused-arguments", *flags, "--end-no-unused-arguments")
    return [*compiler, *before, *arguments[:end], *quiet, *arguments[end:]]


def _is_linked_plainly(command: CompilerCommand) -> bool:
    """Return whether `command` links what no plan is for."""
    is_partial = _RELOCATABLE in command.words
    return is_partial or command.is_question or command.other_linker is not None


def _asks_linker(arguments: Sequence[str]) -> bool:
    return any(word.startswith("-Wl,") or word == "-Xlinker" for word in arguments)


def link_words(
    binary: Binary, place: Place, flags: Sequence[str], output: Path, *, strip: bool = True
) -> list[str]:
    """Return the command that links `binary` to `output` with lld; `place` puts known inputs."""
    return _driver().link_words(binary, place, flags, output, strip=strip)


def _driver() -> Driver:
    clang = clang_command()
    return Driver(
        tuple(clang), (*clang, "--driver-mode=g++"), QUIET, _LLD, left_out=(_LINK_TIME, *SET_APART)
    )


def _strips() -> list[str]:
    found = [path for path in map(shutil.which, (tool_name("llvm-strip"), "strip")) if path]
    if not found:
        raise ProjectError(
            f"found neither {tool_name('llvm-strip')} nor strip; install one with "
            f"`apt install {name_package('llvm-strip')}`"
        )
    return found


def _list_arguments(input: Input, objects: Mapping[Unit, Path]) -> list[str]:
    paths = [str(objects[unit]) for unit in dict.fromkeys(input.units)]
    return ["-Wl,--start-lib", *paths, "-Wl,--end-lib"] if input.is_lazy else paths
