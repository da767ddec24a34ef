# SPDX-License-Identifier: MIT
"""The state of an episode: one module, changed in place, and the executable built from it.

Runs in a worker. The executable is built only when it is observed, and never twice.
"""

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from compiler_gym import _llvm
from compiler_gym.envs.llvm.state.pass_history import PassHistory
from compiler_gym.envs.llvm.state.scope import Scope
from compiler_gym.envs.llvm.toolchain.baselines import Baselines
from compiler_gym.envs.llvm.toolchain.target import Target
from compiler_gym.session import BenchmarkSpec

if TYPE_CHECKING:
    from compiler_gym.envs.llvm.toolchain.executable import Executable

__all__ = ["Program"]


class Program:
    """The module of one episode, changed in place by the session."""

    def __init__(self, benchmark: BenchmarkSpec, goal: str, directory: Path) -> None:
        self.benchmark = benchmark
        self.goal = goal
        """The optimisation goal."""
        self.target = Target.of(benchmark)
        """The target machine."""
        self.scope = Scope.of(benchmark)
        """The symbols that stay visible to other modules."""
        self.directory = directory
        """The folder for files; it need not exist yet."""
        self.has_ids = False
        """True if the decision points of the module have ids."""
        self.module = self.load()
        self.history = PassHistory(self.load)
        self.baselines = Baselines(_llvm.Module, _llvm.LLVM_VERSION)
        self._files = 0
        self._original: Program | None = None
        self._executable: Executable | None = None

    def load(self) -> _llvm.Module:
        """Return the module as it was at reset."""
        module = self._fresh()
        self.scope.apply(module)
        module.set_goal(self.goal)
        if self.has_ids:
            _llvm.Marks(module).number()
        return module

    def at_level(self, level: str) -> _llvm.Module:
        """Return the module after the compiler's own pipeline for `level`."""
        module = self._fresh()
        self.scope.apply_level(module, level)
        return module

    def scope_pipeline(self) -> str:
        """Return the pipeline that makes the same symbols local in the benchmark as at reset."""
        return self.scope.pipeline(self._fresh())

    def run(self, pipeline: str, options: Sequence[tuple[str, str]] = ()) -> bool:
        """Run `pipeline` on the module and return whether it changed.

        If `options` sets LLVM's options, this corresponds to a separate run of ``opt``.
        """
        return self.history.run(self.module, pipeline, options)

    def apply(self, pipeline: str) -> bool:
        """Run `pipeline` without detecting changes; return whether the module may have changed."""
        return self.history.apply(self.module, pipeline)

    @property
    def executable(self) -> "Executable":
        """The module as machine code, built on first use."""
        if self._executable is None and self._original is not None:
            self._executable = self._original.executable.beside()
        if self._executable is None:
            # Most episodes never link or run the program, so the import is deferred.
            from compiler_gym.envs.llvm.toolchain.executable import Executable

            self._executable = Executable(self.benchmark, self.load, lambda: self.directory)
        return self._executable

    def other(self, module: _llvm.Module) -> "Program":
        """Return a copy with another module, whose executable is built in another directory."""
        twin = copy.copy(self)
        twin.module = module
        twin._original, twin._executable = self, None
        return twin

    def write_bitcode(self) -> str:
        """Write the module to a new file and return its path."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self._files += 1
        path = self.directory / f"module-{self._files}.bc"
        path.write_bytes(self.module.bitcode())
        return str(path)

    def move_to(self, directory: Path) -> None:
        """Write files into `directory` from now on."""
        self.directory = directory
        if self._executable is not None:
            self._executable.forget_files()

    def _fresh(self) -> _llvm.Module:
        module = _llvm.Module(self.benchmark.contents, self.benchmark.uri)
        self.target.apply(module)
        return module

    def close(self) -> None:
        """Free the module at once: it is part of a reference cycle.

        If it were left to the garbage collector, modules of many episodes would fill the memory.
        """
        del self.module
