# SPDX-License-Identifier: MIT
"""From a module to a program on disk: the engine's object file, and a compiler that links it.

Runs in a worker. A program is linked again only when its IR has changed. `Linking` says how:
to be run, or to be as small as the linker can make it.
"""

import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from compiler_gym import _llvm
from compiler_gym.envs.llvm.toolchain.clang import clang_command
from compiler_gym.envs.llvm.toolchain.tools import MAJOR, find_tool, name_package
from compiler_gym.errors import BenchmarkInitError, ObservationError
from compiler_gym.files import tool_identity
from compiler_gym.service import run_child

__all__ = [
    "FOLDED",
    "RUNNABLE",
    "Builder",
    "Built",
    "Linking",
    "folding_linker_identity",
    "linker_identity",
    "require_here",
]

_CLANG_SECONDS = 120.0
_MOST_QUOTED_ERRORS = 2000
_FOLDING = ("-pie", "-s", "-Wl,--gc-sections", "-Wl,--icf=safe")


@dataclass(frozen=True, slots=True)
class Built:
    """A program that was linked."""

    path: Path
    seconds: float
    """How long code generation and linking took."""

    @property
    def text_size(self) -> int:
        """The bytes of machine code in it, start-up code and linked-in libraries included."""
        return _llvm.code_size(self.path.read_bytes())

    @property
    def size(self) -> int:
        """The bytes of its file."""
        return self.path.stat().st_size


@dataclass(frozen=True, slots=True)
class Linking:
    """What the linker is given, and what it is asked for."""

    object_of: Callable[[_llvm.Module], bytes]
    command: Callable[[], tuple[str, ...]]
    """Returns a compiler that links, and its flags; raises `ObservationError` where none can."""


def _runnable() -> tuple[str, ...]:
    return (*_linker(), "-no-pie")


def _fold_errors() -> tuple[str, ...]:
    clang, lld = _folding_linker()
    return (clang, f"--ld-path={lld}", *_FOLDING)


RUNNABLE = Linking(_llvm.Module.object_code, _runnable)
"""By whichever compiler is there, as it links by itself."""
FOLDED = Linking(_llvm.object_code_in_sections, _fold_errors)
"""By lld, which leaves out what nobody uses and keeps one of equal functions; stripped."""


class Builder:
    """Links one module after the other, and keeps the last program.

    `spare` are flags to try where the program does not link without.
    """

    def __init__(
        self,
        directory: Callable[[], Path],
        flags: Sequence[str],
        *,
        spare: Sequence[str] = (),
        linking: Linking = RUNNABLE,
    ) -> None:
        self._linking = linking
        self._directory = directory
        self._flags = tuple(flags)
        self._spare = tuple(spare)
        self._last: tuple[bytes, Built] | None = None
        self._count = 0

    def build(self, module: _llvm.Module) -> Built:
        """Return the program of `module`; raise `ObservationError` where it does not link."""
        digest = module.ir_hash()
        if self._last is not None and self._last[0] == digest and self._last[1].path.exists():
            return self._last[1]
        built = self.build_again(module)
        self._last = (digest, built)
        return built

    def build_again(self, module: _llvm.Module) -> Built:
        """Build, also if the program is there: for its time."""
        require_here(module)
        linker = self._linking.command()
        directory = self._directory()
        directory.mkdir(parents=True, exist_ok=True)
        self._count += 1
        source, output = directory / "program.o", directory / f"program-{self._count}"
        started = time.monotonic()
        source.write_bytes(self._linking.object_of(module))
        self._link(linker, source, output)
        if self._count > 1:
            (directory / f"program-{self._count - 1}").unlink(missing_ok=True)
        return Built(output, time.monotonic() - started)

    def forget(self) -> None:
        """Build again next time."""
        self._last = None

    def _link(self, linker: Sequence[str], source: Path, output: Path) -> None:
        command = [*linker, "-o", str(output), str(source), *self._flags]
        refused = _linker_refusal(command)
        if refused is not None and self._spare:
            refused = refused if _linker_refusal([*command, *self._spare]) is not None else None
        if refused is not None:
            raise ObservationError(f"the program does not link:\n{refused[-_MOST_QUOTED_ERRORS:]}")


def require_here(module: _llvm.Module) -> None:
    """Raise `ObservationError` for a program of a machine that programs are not linked for."""
    machine = _llvm.machine_of(module.triple)
    if machine not in ("", _llvm.machines()[0]):
        raise ObservationError(
            f"the program is made for {machine}: it is neither linked nor run here. Expected an "
            "observation of its object file, such as ObjectTextSizeBytes or McaCycles"
        )


def _linker_refusal(command: Sequence[str]) -> str | None:
    """Return what the linker says where it makes no program."""
    try:
        done = run_child(command, timeout=_CLANG_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ObservationError(f"cannot link the program: {error}") from error
    return done.stderr.decode(errors="replace").strip() if done.returncode else None


@cache
def _linker() -> tuple[str, ...]:
    """Return a compiler that links; raise `ObservationError` with what to install."""
    try:
        return tuple(clang_command())
    except BenchmarkInitError as error:
        found = shutil.which("cc") or shutil.which("gcc")
        if found is None:
            raise ObservationError(f"cannot link a program: {error}") from error
        return (found,)


@cache
def linker_identity() -> str:
    """Return a text that changes when the linker does."""
    return tool_identity(_linker()[0])


@cache
def _folding_linker() -> tuple[str, str]:
    """Return a clang and the lld it is to use; raise `ObservationError` with what to install."""
    try:
        clang = clang_command()
    except BenchmarkInitError:
        clang = []
    lld = find_tool("ld.lld", any_version=True)
    missing = [
        *(
            () if len(clang) == 1 else (name_package("clang"),)
        ),  # that in ziglang links with its own
        *(() if lld else (name_package("ld.lld"),)),
    ]
    if lld is None or missing:
        raise ObservationError(
            f"linked sizes are not available here: expected clang and ld.lld of LLVM {MAJOR} on "
            f"PATH, found no {' and no '.join(missing)}: `apt install {' '.join(missing)}`"
        )
    return clang[0], lld


@cache
def folding_linker_identity() -> str:
    """Return a text that changes when what makes linked sizes does."""
    return " ".join((*map(tool_identity, _folding_linker()), *_FOLDING))
