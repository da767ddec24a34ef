# SPDX-License-Identifier: MIT
"""What can be earned: time saved, in several scales.

Every one needs a result that was found right: a wrong one fails the step, and earns nothing.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from compiler_gym.rewards import CostReward
from compiler_gym.spaces import Reward

__all__ = ["GainReward", "LogSpeedupReward", "MicrosecondsReward", "make_rewards"]


class LogSpeedupReward(Reward):
    """The natural logarithm of how many times as fast an action made the program.

    An episode's rewards sum to the logarithm of its speed over what `baseline` observes; they are
    0 where that is 0.

    >>> reward = LogSpeedupReward("LogSpeedupNumpy", baseline="RuntimeNumpy")
    >>> reward.reset("benchmark://demo/1", {"RuntimeNumpy": 80.0})
    >>> reward.start([640.0], {})
    >>> round(reward.update([0], [10.0], {}), 3)
    2.079
    """

    def __init__(self, name: str, baseline: str) -> None:
        super().__init__(name, ["RuntimeMedian"], default_negates_returns=True)
        self._baseline = baseline
        self._before = 0.0

    def reset(self, benchmark: str, observation_view: Mapping[str, Any]) -> None:
        """Observe the baseline."""
        self._before = float(observation_view[self._baseline])

    def update(
        self,
        actions: Sequence[Any],
        observations: Sequence[Any],
        observation_view: Mapping[str, Any],
    ) -> float:
        """Return the logarithm of the speed-up; 0 where there is no baseline."""
        now = float(observations[0])
        if self._before <= 0 or now <= 0:
            return 0.0
        earned, self._before = math.log(self._before / now), now
        return earned


class GainReward(Reward):
    """By how much an action raised an observation.

    >>> reward = GainReward("Gflops", "GflopsPerSecond")
    >>> reward.start([2.0], {})
    >>> reward.update([0], [50.0], {})
    48.0
    """

    def __init__(self, name: str, observation: str) -> None:
        super().__init__(name, [observation], default_negates_returns=True)
        self._before = 0.0

    def start(self, observations: Sequence[Any], observation_view: Mapping[str, Any]) -> None:
        """Note the value before any action."""
        self._before = float(observations[0])

    def update(
        self,
        actions: Sequence[Any],
        observations: Sequence[Any],
        observation_view: Mapping[str, Any],
    ) -> float:
        """Return the difference."""
        before, self._before = self._before, float(observations[0])
        return self._before - before


class MicrosecondsReward(Reward):
    """The microseconds saved, by the median of `Runtime`: CompilerGym 0.2.5's ``runtime``.

    >>> reward = MicrosecondsReward()
    >>> reward.start([[9.0, 8.0, 12.0]], {})
    >>> reward.update([0], [[3.0, 4.0, 4.0]], {})
    5.0
    """

    def __init__(self) -> None:
        super().__init__("runtime", ["Runtime"], default_negates_returns=True)
        self._before = 0.0

    def start(self, observations: Sequence[Any], observation_view: Mapping[str, Any]) -> None:
        """Note the time before any action."""
        self._before = float(median(observations[0]))

    def update(
        self,
        actions: Sequence[Any],
        observations: Sequence[Any],
        observation_view: Mapping[str, Any],
    ) -> float:
        """Return the difference."""
        before, self._before = self._before, float(median(observations[0]))
        return before - self._before


def make_rewards() -> list[Reward]:
    """Return fresh rewards: each holds the numbers of one environment's episode."""
    return [
        CostReward(
            "LogSpeedup",
            cost="LogRuntime",
            initial="LogRuntimeNaive",
            platform_dependent=True,
            deterministic=False,
        ),
        LogSpeedupReward("LogSpeedupNumpy", "RuntimeNumpy"),
        GainReward("Gflops", "GflopsPerSecond"),
        GainReward("PeakFraction", "FractionOfPeak"),
        MicrosecondsReward(),
        CostReward(
            "StaticCostSaved",
            cost="StaticCost",
            initial="StaticCostNaive",
            platform_dependent=False,
        ),
    ]
