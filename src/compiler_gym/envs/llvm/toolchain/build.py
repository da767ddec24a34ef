# SPDX-License-Identifier: MIT
"""Build a program from a module: the engine writes the object file, and a compiler links it.

Runs in a worker. A program is linked again only if its IR has changed. `Linking` selects a link for
running, or for the smallest file.
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
    """A linked program."""

    path: Path
    seconds: float
    """The seconds for code generation and linking."""

    @property
    def text_size(self) -> int:
        """The bytes of machine code, including start-up code and static libraries."""
        return _llvm.code_size(self.path.read_bytes())

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return self.path.stat().st_size


@dataclass(frozen=True, slots=True)
class Linking:
    """The object file for the linker, and the command that links it."""

    object_of: Callable[[_llvm.Module], bytes]
    command: Callable[[], tuple[str, ...]]
    """Returns a compiler that links, and its flags; raises `ObservationError` if there is none."""


def _runnable() -> tuple[str, ...]:
    return (*_linker(), "-no-pie")


def _fold_errors() -> tuple[str, ...]:
    clang, lld = _folding_linker()
    return (clang, f"--ld-path={lld}", *_FOLDING)


RUNNABLE = Linking(_llvm.Module.object_code, _runnable)
"""A link with any available compiler and its defaults."""
FOLDED = Linking(_llvm.object_code_in_sections, _fold_errors)
"""A link with lld that removes unused sections, merges equal functions and strips symbols."""


class Builder:
    """Links modules and keeps the latest program.

    `spare` are additional flags to try if the program does not link.
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
        """Return the program of `module`; raise `ObservationError` if it does not link."""
        digest = module.ir_hash()
        if self._last is not None and self._last[0] == digest and self._last[1].path.exists():
            return self._last[1]
        built = self.build_again(module)
        self._last = (digest, built)
        return built

    def build_again(self, module: _llvm.Module) -> Built:
        """Build even if the program exists, to measure the build time."""
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
        """Build again on the next call of `build`."""
        self._last = None

    def _link(self, linker: Sequence[str], source: Path, output: Path) -> None:
        command = [*linker, "-o", str(output), str(source), *self._flags]
        errors = _linker_errors(command)
        if errors is not None and self._spare:
            errors = errors if _linker_errors([*command, *self._spare]) is not None else None
        if errors is not None:
            raise ObservationError(f"the program does not link:\n{errors[-_MOST_QUOTED_ERRORS:]}")


def require_here(module: _llvm.Module) -> None:
    """Raise `ObservationError` if programs for the module's target cannot be linked here."""
    machine = _llvm.machine_of(module.triple)
    if machine not in ("", _llvm.machines()[0]):
        raise ObservationError(
            f"the program is for {machine}, so it can be neither linked nor run here; use an "
            "observation of its object file, such as ObjectTextSizeBytes or McaCycles"
        )


def _linker_errors(command: Sequence[str]) -> str | None:
    """Return the linker's errors, or None if it succeeds."""
    try:
        result = run_child(command, timeout=_CLANG_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ObservationError(f"cannot link the program: {error}") from error
    return result.stderr.decode(errors="replace").strip() if result.returncode else None


@cache
def _linker() -> tuple[str, ...]:
    """Return a compiler that links; raise `ObservationError` with installation advice."""
    try:
        return tuple(clang_command())
    except BenchmarkInitError as error:
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            raise ObservationError(f"cannot link a program: {error}") from error
        return (compiler,)


@cache
def linker_identity() -> str:
    """Return a text that changes whenever the linker changes."""
    return tool_identity(_linker()[0])


@cache
def _folding_linker() -> tuple[str, str]:
    """Return a clang and its lld; raise `ObservationError` with installation advice."""
    try:
        clang = clang_command()
    except BenchmarkInitError:
        clang = []
    lld = find_tool("ld.lld", any_version=True)
    missing = [
        *(
            () if len(clang) == 1 else (name_package("clang"),)
        ),  # the clang in ziglang has its own linker
        *(() if lld else (name_package("ld.lld"),)),
    ]
    if lld is None or missing:
        raise ObservationError(
            f"linked sizes need clang and ld.lld of LLVM {MAJOR} on PATH, but "
            f"{' and '.join(missing)} cannot be found; run `apt install {' '.join(missing)}`"
        )
    return clang[0], lld


@cache
def folding_linker_identity() -> str:
    """Return a text that changes whenever the tools for linked sizes change."""
    return " ".join((*map(tool_identity, _folding_linker()), *_FOLDING))
