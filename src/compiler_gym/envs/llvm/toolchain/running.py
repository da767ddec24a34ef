# SPDX-License-Identifier: MIT
"""Build, run and time the program of an episode. Runs in a worker."""

from collections.abc import Callable, Sequence
from typing import Any

from compiler_gym import _llvm
from compiler_gym.datasets import MeasuredRuns, RunSpec, counter_identity, find_run
from compiler_gym.envs.llvm.toolchain.build import Builder
from compiler_gym.errors import ObservationError
from compiler_gym.session import BenchmarkSpec
from compiler_gym.statistics import compare

__all__ = ["Running", "counter_identity", "run_spec_in"]

_LEAST_PAIRS = 7


def run_spec_in(benchmark: BenchmarkSpec) -> RunSpec | None:
    """Return the description of how to run `benchmark`, or None if there is none."""
    return find_run(benchmark.uri, benchmark.run)


class Running:
    """The runs of one episode's program."""

    def __init__(self, spec: RunSpec | None, load: Callable[[], _llvm.Module]) -> None:
        self._runs = MeasuredRuns(spec)
        self._load = load
        self.observation_count = 1
        """The number of values of ``Runtime``."""
        self.warmup_count = 0
        """The number of runs before the measurement."""

    @property
    def is_known(self) -> bool:
        """True if the benchmark describes how to run the program."""
        return self._runs.is_known

    @property
    def link_flags(self) -> Sequence[str]:
        """The linker flags of the program."""
        return self._runs.link_flags

    def is_runnable(self, module: _llvm.Module, builder: Builder) -> bool:
        """Return whether the program links and passes its first case."""
        if not self._runs.is_known:
            return False
        try:
            return self._runs.succeeds(builder.build(module).path)
        except ObservationError:
            return False

    def times(self, module: _llvm.Module, builder: Builder) -> list[float]:
        """Return the wall-clock times of the program's largest case, in seconds."""
        path = builder.build(module).path
        return self._runs.seconds(path, count=self.observation_count, warmups=self.warmup_count)

    def comparison(
        self, module: _llvm.Module, builder: Builder, reference: Builder
    ) -> dict[str, Any]:
        """Return processor times of the program now and at reset, run alternately."""
        paths = (reference.build(self._load()).path, builder.build(module).path)
        count = max(self.observation_count, _LEAST_PAIRS)
        times = self._runs.in_turns(paths, count=count, warmups=self.warmup_count)
        result = compare(*times)
        return {
            "speedup": result.speedup,
            "low": result.low,
            "high": result.high,
            "baseline": times[0],
            "candidate": times[1],
        }

    def instructions(self, module: _llvm.Module, builder: Builder) -> int:
        """Return the number of instructions that the program retires on a small case."""
        return self._runs.instructions(builder.build(module).path)
