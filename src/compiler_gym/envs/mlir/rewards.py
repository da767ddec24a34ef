# SPDX-License-Identifier: MIT
"""What can be earned: time saved, in several scales.

Every one needs a result that was found right: a wrong one fails the step, and earns nothing.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from compiler_gym.spaces import Reward
from compiler_gym.spaces.rewards import ChangeReward, CostReward

__all__ = ["LogSpeedupReward", "MinusRuntime", "make_rewards"]


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
        self.description = (
            "The natural logarithm of how many times as fast the action made the program. An "
            f"episode's rewards add up to that of `{baseline}` over its last time."
        )
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


class MinusRuntime(ChangeReward):
    """Minus the time of a run: an episode's rewards sum to minus its last time.

    >>> reward = MinusRuntime()
    >>> reward.reset("benchmark://demo/1", {})
    >>> [reward.update([0], [times], {}) for times in ([7.0, 9.0, 8.0], [5.0])]
    [-8.0, 3.0]
    """

    def __init__(self) -> None:
        super().__init__("runtime", "Runtime", deterministic=False, falls=True, number=median)
        self.default_value = -1
        self.description = (
            "Minus the median of `Runtime`, in microseconds. What an episode's first step earned "
            "is taken back by the next, so that its rewards sum to minus its last time."
        )

    def reset(self, benchmark: str, observation_view: Mapping[str, Any]) -> None:
        """Forget the last episode: the program was not run before the first step."""
        self.previous = 0.0

    def start(self, observations: Sequence[Any], observation_view: Mapping[str, Any]) -> None:
        """Take no time of the program before any action."""


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
        ChangeReward("Gflops", "GflopsPerSecond", deterministic=False),
        ChangeReward("PeakFraction", "FractionOfPeak", deterministic=False),
        MinusRuntime(),
        CostReward(
            "StaticCostSaved",
            cost="StaticCost",
            initial="StaticCostNaive",
            platform_dependent=False,
        ),
    ]
