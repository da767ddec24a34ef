# SPDX-License-Identifier: MIT
"""What can be earned: time saved, in several scales.

Every one needs a result that was found right: a wrong one fails the step, and earns nothing.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from compiler_gym.rewards import ChangeReward, CostReward
from compiler_gym.spaces import Reward

__all__ = ["LogSpeedupReward", "make_rewards"]


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


def _median(times: Any) -> float:
    return float(median(times))


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
        # In microseconds, as CompilerGym 0.2.5's.
        ChangeReward("runtime", "Runtime", deterministic=False, falls=True, number=_median),
        CostReward(
            "StaticCostSaved",
            cost="StaticCost",
            initial="StaticCostNaive",
            platform_dependent=False,
        ),
    ]
