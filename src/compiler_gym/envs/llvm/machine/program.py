# SPDX-License-Identifier: MIT
"""The observations of an episode's program as machine code. Runs in a worker.

Imported when one is first asked for: most episodes never link anything.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from compiler_gym import _llvm
from compiler_gym.envs.llvm.machine.build import Builder, linker_identity
from compiler_gym.envs.llvm.machine.running import Running, counter_identity, run_spec_in
from compiler_gym.errors import InvalidParameterError, ObservationError
from compiler_gym.session import BenchmarkSpec

__all__ = ["Program"]

_COUNTS = {"runtime_observation_count": 1, "runtime_warmup_runs_count": 0}
"""The settings of runs, and the least that each may be."""


class Program:
    """Builds and runs the program of one episode."""

    def __init__(
        self,
        benchmark: BenchmarkSpec,
        load: Callable[[], _llvm.Module],
        directory: Callable[[], Path],
    ) -> None:
        self._running = Running(run_spec_in(benchmark), load)
        flags = self._running.link_flags
        self._builder = Builder(directory, flags)
        self._reference = Builder(lambda: directory() / "reference", flags)
        self._others = Builder(lambda: directory() / "baseline", flags)
        running, builder = self._running, self._builder
        self._compute: dict[str, Callable[[_llvm.Module], Any]] = {
            "IsBuildable": self._is_buildable,
            "IsRunnable": lambda m: running.is_runnable(m, builder),
            "Buildtime": lambda m: [builder.build_again(m).seconds],
            "Runtime": lambda m: running.times(m, builder),
            "RuntimeComparison": lambda m: running.comparison(m, builder, self._reference),
            "TextSizeBytes": lambda m: builder.build(m).text_size,
            "RuntimeInstructions": lambda m: running.instructions(m, builder),
        }

    def observe(self, name: str, module: _llvm.Module) -> Any:
        """Return the plain value of observation `name` for `module`."""
        return self._compute[name](module)

    def baseline_measures(self) -> Mapping[str, tuple[str, Callable[[_llvm.Module], float]]]:
        """Return how to measure a cost of another module, and what else the cost depends on."""
        others, running = self._others, self._running
        return {
            "TextSizeBytes": (linker_identity(), lambda m: others.build(m).text_size),
            "RuntimeInstructions": (
                f"{linker_identity()} {_or_nothing(counter_identity)}",
                lambda m: running.instructions(m, others),
            ),
        }

    def set(self, key: str, value: str) -> str:
        """Change a setting of the runs and return its value."""
        try:
            number = int(float(value))
        except ValueError:
            number = -1
        if number < _COUNTS[key]:
            raise InvalidParameterError(
                f"{key} is {value!r}: expected a whole number of at least {_COUNTS[key]}"
            )
        if key == "runtime_observation_count":
            self._running.observation_count = number
        else:
            self._running.warmup_count = number
        return str(number)

    def forget_files(self) -> None:
        """Build again when something is next asked for: the files have moved."""
        for builder in (self._builder, self._reference, self._others):
            builder.forget()

    def _is_buildable(self, module: _llvm.Module) -> bool:
        try:
            self._builder.build(module)
        except ObservationError:
            return False
        return True


def _or_nothing(identify: Callable[[], str]) -> str:
    try:
        return identify()
    except ObservationError:
        return ""
