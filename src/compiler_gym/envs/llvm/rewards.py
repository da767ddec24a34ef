# SPDX-License-Identifier: MIT
"""The rewards: plain and scaled ones for each cost, and one for measured speed."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from compiler_gym.envs.llvm.observations import TABLE
from compiler_gym.errors import ObservationError
from compiler_gym.spaces import ChangeReward, Reward
from compiler_gym.tables import cost_rewards

__all__ = ["SpeedupReward", "buildtime_reward", "make_rewards"]


class SpeedupReward(Reward):
    """The logarithm of the speedup over the program at reset, counted only where significant.

    It observes ``RuntimeComparison``. An episode's rewards sum to the logarithm of its
    speedup if the 95 % confidence interval excludes 1, and to 0 otherwise; with
    `significant_only` off, they sum to the estimate, noise included.

    >>> reward = SpeedupReward()
    >>> reward.reset("benchmark://demo/1", {})
    >>> unsure = {"speedup": 1.5, "low": 0.9, "high": 2.5}
    >>> reward.update([0], [unsure], {})
    0.0
    >>> round(reward.update([1], [{"speedup": 2.0, "low": 1.9, "high": 2.1}], {}), 3)
    0.693
    """

    def __init__(self, name: str = "RuntimeSpeedup", *, significant_only: bool = True) -> None:
        super().__init__(
            name,
            observation_spaces=["RuntimeComparison"],
            default_negates_returns=True,
            success_threshold=None,
            deterministic=False,
            platform_dependent=True,
        )
        self.significant_only = significant_only
        """True if a speedup that is not significant counts as 0."""
        self.earned = 0.0

    def reset(self, benchmark: str, observation_view: Mapping[str, Any]) -> None:
        """Forget the last episode."""
        self.earned = 0.0

    def update(
        self,
        actions: Sequence[Any],
        observations: Sequence[Any],
        observation_view: Mapping[str, Any],
    ) -> float:
        """Return the change of the logarithm of the significant speedup since the last step."""
        comparison = observations[0]
        is_certain = comparison["low"] > 1 or 0 < comparison["high"] < 1
        total = math.log(comparison["speedup"]) if is_certain or not self.significant_only else 0.0
        change, self.earned = total - self.earned, total
        return change


def _one_number(observation: Any) -> float:
    if not isinstance(observation, (list, tuple, np.ndarray)):
        return float(observation)
    numbers = cast("Sequence[Any]", observation)
    if not len(numbers):
        raise ObservationError("the program could not be measured: it cannot be built or run")
    return float(numbers[0])


def buildtime_reward() -> Reward:
    """Return the reward for the seconds of build time saved."""
    return ChangeReward(
        "Buildtime", "Buildtime", deterministic=False, falls=True, number=_one_number
    )


def make_rewards() -> list[Reward]:
    """Return new rewards; an environment needs its own because each holds an episode's state."""
    return [*cost_rewards(TABLE.costs), buildtime_reward(), SpeedupReward()]
