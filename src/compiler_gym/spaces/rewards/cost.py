# SPDX-License-Identifier: MIT
"""Rewards for lowering a cost, plain or scaled by what was there to save.

A reward is arithmetic on measured costs: it holds no compiler and reads no file.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from compiler_gym.spaces import Reward

__all__ = ["BaselineReward", "CostReward", "NormalizedCostReward", "Origin"]


class Origin(Enum):
    """The program whose cost an episode's savings are counted from."""

    RESET = "reset"
    """The one that is there after a reset."""
    INITIAL = "initial"
    """The one before anything was done to it, where a reset does something already."""


class CostReward(Reward):
    """The cost saved since the last step: ``before - after``.

    `cost` is the observation to lower; `initial` the observation that holds its
    value at reset, asked for only when the reward did not see that itself, or
    where `counts_from` says so. What an
    episode earns depends on where it ends alone, rounding included: a program as it
    was at reset has earned 0, and one that ties with a baseline 1 of what is scaled
    by that baseline. What a reset itself saved is earned by the first action.
    """

    def __init__(
        self,
        name: str,
        *,
        cost: str,
        initial: str,
        platform_dependent: bool,
        deterministic: bool = True,
        unit: str = "",
        levels: Mapping[str, str] | None = None,
        counts_from: Origin = Origin.RESET,
        **properties: Any,
    ) -> None:
        super().__init__(
            name=name,
            observation_spaces=[cost],
            default_value=0,
            default_negates_returns=True,
            deterministic=deterministic,
            platform_dependent=platform_dependent,
            **properties,
        )
        self.initial = initial
        self.counts_from = counts_from
        """Which program `origin` is the cost of."""
        self.origin: float | None = None
        """The cost that savings are counted from, once it is known."""
        self.unit = unit
        """What the cost is counted in."""
        self.levels = dict(levels or {})
        """The observations of the cost at the compiler's own levels, by their options."""
        self.previous: float | None = None
        """The cost of the last update."""
        self.scale: float | None = None
        """What counts as 1.0, once it is known."""
        self.earned = 0.0
        """The sum of the episode's rewards."""
        self.has_begun = False
        """True if an action was rewarded."""

    def reset(self, benchmark: str, observation_view: Mapping[str, Any]) -> None:
        """Forget the last episode."""
        self.origin = self.previous = self.scale = None
        self.earned = 0.0
        self.has_begun = False

    def start(self, observations: Sequence[Any], observation_view: Mapping[str, Any]) -> None:
        """Take the costs of the program before any action."""
        is_seen = self.counts_from is Origin.RESET
        origin = observations[0] if is_seen else observation_view[self.initial]
        self._count_from(float(origin), observation_view)
        self.previous = float(observations[0])
        self.has_begun = False

    def update(
        self,
        actions: Sequence[Any],
        observations: Sequence[Any],
        observation_view: Mapping[str, Any],
    ) -> float:
        """Return the reward for moving the cost to ``observations[0]``."""
        cost = float(observations[0])
        if self.origin is None:
            self._count_from(float(observation_view[self.initial]), observation_view)
        if cost == self.previous and (self.has_begun or not actions):
            return 0.0
        self.has_begun = True
        assert self.origin is not None
        assert self.scale is not None
        self.previous = cost
        # Not the difference to the last cost: over many steps, roundings would add up.
        reward = (self.origin - cost) / self.scale - self.earned
        self.earned += reward
        return reward

    def saving(self, observation_view: Mapping[str, Any]) -> float:
        """Return the cost that counts as 1.0; less than 1 counts as 1. `origin` is known."""
        return 1.0

    def _count_from(self, origin: float, observation_view: Mapping[str, Any]) -> None:
        self.origin = self.previous = origin
        self.earned = 0.0
        self.scale = max(self.saving(observation_view), 1.0)


class NormalizedCostReward(CostReward):
    """The cost saved as a share of the initial cost.

    An episode's rewards sum to less than 1. An initial cost of 0 counts as 1.
    """

    def __init__(self, name: str, *, max: float | None = 1, **properties: Any) -> None:
        super().__init__(name, max=max, **properties)

    def saving(self, observation_view: Mapping[str, Any]) -> float:
        """Return the cost that counts as 1.0."""
        assert self.origin is not None
        return self.origin


class BaselineReward(NormalizedCostReward):
    """The cost saved as a share of what a baseline pipeline saves.

    An episode's rewards sum to 1.0 when the agent ties with the baseline, and to
    more when it wins. A baseline that saves nothing (or costs more than it
    started with) counts as saving 1: the reward is then the plain cost saved.
    """

    def __init__(self, name: str, *, baseline: str, **properties: Any) -> None:
        super().__init__(name, max=None, success_threshold=1, **properties)
        self.baseline = baseline

    def saving(self, observation_view: Mapping[str, Any]) -> float:
        """Return what the baseline saves of the initial cost."""
        assert self.origin is not None
        return self.origin - float(observation_view[self.baseline])
