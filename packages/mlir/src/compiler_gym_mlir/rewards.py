# SPDX-License-Identifier: MIT
"""The rewards: time saved, on several scales.

Each needs correct results: a step with a wrong result fails and earns nothing.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from compiler_gym.spaces import ChangeReward, CostReward, Reward

__all__ = ["LogSpeedupReward", "MinusRuntime", "make_rewards"]


class LogSpeedupReward(Reward):
    """The natural logarithm of the speedup by an action.

    An episode's rewards sum to the logarithm of the final speedup over the observation
    `baseline`; they are 0 if the baseline is 0.

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
            "The natural logarithm of the speedup by the action. An episode's rewards sum to that "
            f"of `{baseline}` over its last time."
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
        """Return the logarithm of the speedup; 0 without a baseline."""
        now = float(observations[0])
        if self._before <= 0 or now <= 0:
            return 0.0
        gain, self._before = math.log(self._before / now), now
        return gain


class MinusRuntime(ChangeReward):
    """The negative time of a run: an episode's rewards sum to its negative last time.

    >>> reward = MinusRuntime()
    >>> reward.reset("benchmark://demo/1", {})
    >>> [reward.update([0], [times], {}) for times in ([7.0, 9.0, 8.0], [5.0])]
    [-8.0, 3.0]
    """

    def __init__(self) -> None:
        super().__init__("runtime", "Runtime", deterministic=False, falls=True, number=median)
        self.default_value = -1
        self.description = (
            "The negative median of `Runtime`, in microseconds. The second step of an episode "
            "takes back the reward of the first, so that the sum is the negative last time."
        )

    def reset(self, benchmark: str, observation_view: Mapping[str, Any]) -> None:
        """Forget the last episode: the program was not run before the first step."""
        self.previous = 0.0

    def start(self, observations: Sequence[Any], observation_view: Mapping[str, Any]) -> None:
        """Do nothing: the program has not run before the first action."""


def make_rewards() -> list[Reward]:
    """Return new rewards: each stores values of one environment's episode."""
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
