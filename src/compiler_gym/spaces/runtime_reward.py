# SPDX-License-Identifier: MIT
"""A reward for programs that run faster, from repeated measurements."""

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Sequence as ListLike
from typing import Any

from compiler_gym.errors import BenchmarkInitError, ObservationError
from compiler_gym.spaces.reward import Reward

__all__ = ["RuntimeReward"]


class RuntimeReward(Reward):
    """The seconds saved since the last step, from a point estimate of the running time.

    It observes ``Runtime``: a list of `runtime_count` times, measured after `warmup_count` runs
    that do not count. Set both on the environment when you add this reward. The estimate for
    the original program is kept for as long as episodes stay on one benchmark.

    >>> reward = RuntimeReward(runtime_count=3, warmup_count=0, estimator=min)
    >>> reward.reset("benchmark://demo/1", {"IsRunnable": True, "Runtime": [2.0, 1.5, 1.75]})
    >>> reward.update([0], [[1.0, 1.25, 1.5]], {})
    0.5
    """

    def __init__(
        self,
        runtime_count: int,
        warmup_count: int,
        estimator: Callable[[Iterable[float]], float],
        default_value: float = 0,
    ) -> None:
        super().__init__(
            "runtime",
            observation_spaces=["Runtime"],
            default_value=default_value,
            default_negates_returns=True,
            deterministic=False,
            platform_dependent=True,
        )
        self.runtime_count = runtime_count
        """Number of times in an observation."""
        self.warmup_count = warmup_count
        """Number of runs before the measured ones."""
        self.estimator = estimator
        """Computes one number from several times, for example the median."""
        self.starting_runtime: float | None = None
        """The estimate before any action."""
        self.previous_runtime: float | None = None
        """The estimate of the last update."""
        self.current_benchmark: str | None = None
        """The program of `starting_runtime`."""

    def reset(self, benchmark: str, observation_view: Mapping[str, Any]) -> None:
        """Measure `benchmark`, unless it is the same as last time.

        Raises `BenchmarkInitError` for a program that cannot be run.
        """
        if benchmark != self.current_benchmark or self.starting_runtime is None:
            if not observation_view["IsRunnable"]:
                raise BenchmarkInitError(f"{benchmark} cannot be run: choose a runnable program")
            self.starting_runtime = float(self.estimator(observation_view["Runtime"]))
            self.current_benchmark = benchmark
        self.previous_runtime = self.starting_runtime

    def update(
        self,
        actions: ListLike[Any],
        observations: ListLike[Any],
        observation_view: Mapping[str, Any],
    ) -> float:
        """Return the seconds saved; raise `ObservationError` for a wrong number of times."""
        times = observations[0]
        if len(times) != self.runtime_count:
            raise ObservationError(f"expected {self.runtime_count} runtimes, got {len(times)}")
        if self.previous_runtime is None:
            raise ObservationError("no starting runtime is known: call reset() before update()")
        runtime = float(self.estimator(times))
        saved = self.previous_runtime - runtime
        self.previous_runtime = runtime
        return saved
