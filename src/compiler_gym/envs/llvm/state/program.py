# SPDX-License-Identifier: MIT
"""The state of an episode: one module, changed in place, and the executable built from it.

Runs in a worker. Nothing is built or linked before it is observed, and nothing twice.
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
        """What the program is optimised for."""
        self.target = Target.of(benchmark)
        """Which machine it is for."""
        self.scope = Scope.of(benchmark)
        """What of the module others may see."""
        self.directory = directory
        """Where files may be written; it need not be there yet."""
        self.has_ids = False
        """True if what can be marked in the module has ids."""
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
        """Return what the compiler itself makes of the program at `level`."""
        module = self._fresh()
        self.scope.apply_level(module, level)
        return module

    def scope_pipeline(self) -> str:
        """Return what opt runs on the benchmark to make local what is local at reset."""
        return self.scope.pipeline(self._fresh())

    def run(self, pipeline: str, options: Sequence[tuple[str, str]] = ()) -> bool:
        """Run `pipeline` on the module and return whether it changed.

        With values of LLVM's options it is a run of ``opt`` of its own.
        """
        return self.history.run(self.module, pipeline, options)

    def apply(self, pipeline: str) -> bool:
        """Run `pipeline` where nobody asks; return whether the module may have changed."""
        return self.history.apply(self.module, pipeline)

    @property
    def executable(self) -> "Executable":
        """The module as machine code: built when first asked for."""
        if self._executable is None and self._original is not None:
            self._executable = self._original.executable.beside()
        if self._executable is None:
            # Linking and running load what most episodes never need.
            from compiler_gym.envs.llvm.toolchain.executable import Executable

            self._executable = Executable(self.benchmark, self.load, lambda: self.directory)
        return self._executable

    def other(self, module: _llvm.Module) -> "Program":
        """Return the same with another module, whose program is built in another directory."""
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
        """Free the module at once: what it lends its methods to forms a cycle with it.

        Left to the garbage collector, the modules of many episodes fill the memory.
        """
        del self.module
