# SPDX-License-Identifier: MIT
"""The program of an episode as machine code: built, measured and run. Runs in a worker.

It is imported on first use, because most episodes never link a program.
"""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from compiler_gym import _llvm
from compiler_gym.envs.llvm.toolchain.build import (
    FOLDED,
    Builder,
    folding_linker_identity,
    linker_identity,
    require_here,
)
from compiler_gym.envs.llvm.toolchain.running import Running, counter_identity, run_spec_in
from compiler_gym.errors import InvalidParameterError, ObservationError
from compiler_gym.session import BenchmarkSpec

__all__ = ["Executable"]

_UNSAID_LIBRARIES = ("-lstdc++", "-lm")
"""Libraries to try if a program without link flags does not link."""
_DEFAULT_COUNTS = {
    "runtime_observation_count": 1,
    "runtime_warmup_runs_count": 0,
    "buildtime_observation_count": 1,
}
"""The settings of runs, with their defaults, which are also their minimums."""


class Executable:
    """Builds and runs the program of one episode from any of its modules."""

    def __init__(
        self,
        benchmark: BenchmarkSpec,
        load: Callable[[], _llvm.Module],
        directory: Callable[[], Path],
    ) -> None:
        self._running = Running(run_spec_in(benchmark), load)
        flags = self._running.link_flags
        spare = () if flags or self._running.is_known else _UNSAID_LIBRARIES
        self._builder = Builder(directory, flags, spare=spare)
        self._reference = Builder(lambda: directory() / "reference", flags, spare=spare)
        self._others = Builder(lambda: directory() / "baseline", flags, spare=spare)
        self._folder = Builder(lambda: directory() / "folded", flags, spare=spare, linking=FOLDED)
        self._other_folder = Builder(
            lambda: directory() / "folded-baseline", flags, spare=spare, linking=FOLDED
        )
        self._settings = dict(_DEFAULT_COUNTS)

    def beside(self) -> "Executable":
        """Return a copy that builds in a separate directory, so that this one's build is kept."""
        twin = copy.copy(self)
        twin._builder, twin._folder = self._others, self._other_folder
        return twin

    def is_buildable(self, module: _llvm.Module) -> bool:
        """Return whether the program links."""
        try:
            self._builder.build(module)
        except ObservationError:
            return False
        return True

    def is_runnable(self, module: _llvm.Module) -> bool:
        """Return whether the program links and passes its first case."""
        return self._running.is_runnable(module, self._builder)

    def build_times(self, module: _llvm.Module) -> list[float]:
        """Return the seconds for code generation and linking; empty if it does not link."""
        require_here(module)
        count = self._settings["buildtime_observation_count"]
        try:
            return [self._builder.build_again(module).seconds for _ in range(count)]
        except ObservationError:
            return []

    def times(self, module: _llvm.Module) -> list[float]:
        """Return the wall-clock seconds of the largest case; empty if it cannot be run."""
        require_here(module)
        if not self._running.is_known or not self.is_buildable(module):
            return []
        return self._running.times(module, self._builder)

    def comparison(self, module: _llvm.Module) -> dict[str, Any]:
        """Return a comparison of its processor times with those of the program at reset."""
        return self._running.comparison(module, self._builder, self._reference)

    def text_size(self, module: _llvm.Module) -> int:
        """Return the bytes of machine code in the program."""
        return self._builder.build(module).text_size

    def measure_linked_text(self, module: _llvm.Module) -> int:
        """Return the bytes of machine code in the program, linked for size."""
        return self._folder.build(module).text_size

    def measure_linked_size(self, module: _llvm.Module) -> int:
        """Return the size of the file in bytes, linked for size and stripped."""
        return self._folder.build(module).size

    def instructions(self, module: _llvm.Module) -> int:
        """Return the number of instructions that the program retires on a small case."""
        return self._running.instructions(module, self._builder)

    def identify_tools(self, measured: str) -> str:
        """Return a text that changes whenever a tool for the cost `measured` changes."""
        if measured == "instructions":
            return f"{linker_identity()} {_or_nothing(counter_identity)}"
        if measured in ("measure_linked_text", "measure_linked_size"):
            return folding_linker_identity()
        return linker_identity()

    def set(self, key: str, value: str) -> str:
        """Change a setting of the runs and return its new value."""
        try:
            number = int(float(value))
        except ValueError:
            number = -1
        if number < _DEFAULT_COUNTS[key]:
            raise InvalidParameterError(
                f"{key} must be a whole number of at least {_DEFAULT_COUNTS[key]} (got {value!r})"
            )
        self._settings[key] = number
        self._running.observation_count = self._settings["runtime_observation_count"]
        self._running.warmup_count = self._settings["runtime_warmup_runs_count"]
        return str(number)

    def setting(self, key: str) -> str:
        """Return the value of a setting of the runs."""
        return str(self._settings[key])

    def forget_files(self) -> None:
        """Forget all builds, because the files have moved."""
        for builder in (
            self._builder, self._reference, self._others, self._folder, self._other_folder,
        ):  # fmt: skip
            builder.forget()


def _or_nothing(identify: Callable[[], str]) -> str:
    try:
        return identify()
    except ObservationError:
        return ""
