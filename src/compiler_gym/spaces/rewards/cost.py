# SPDX-License-Identifier: MIT
"""Rewards for lowering a cost, plain or scaled by the possible saving.

A reward is arithmetic on measured costs: it uses no compiler and no files.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from compiler_gym.spaces import Reward

__all__ = ["BaselineReward", "CostReward", "NormalizedCostReward", "Origin"]


class Origin(Enum):
    """The program from whose cost the savings of an episode are counted."""

    RESET = "reset"
    """The program after a reset."""
    INITIAL = "initial"
    """The original program, if a reset already changes it."""


class CostReward(Reward):
    """The cost saved since the last step: ``before - after``.

    `cost` is the observation to lower; `initial` is the observation of the original cost,
    requested only if the reward did not observe that itself, or if `counts_from` requires it.
    The sum of an episode depends only on its final state, rounding included: it is 0 for the
    program of the reset, and 1 for a tie with the baseline by which the reward is scaled. The
    first action also earns the savings of the reset itself.
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
        """The program whose cost is `origin`."""
        self.origin: float | None = None
        """The cost from which savings are counted, once it is known."""
        self.unit = unit
        """The unit of the cost."""
        self.levels = dict(levels or {})
        """The observations of the cost at the compiler's own levels, by their options."""
        self.previous: float | None = None
        """The cost of the last update."""
        self.scale: float | None = None
        """The saving that counts as 1.0, once it is known."""
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
        """Store the costs of the program before any action."""
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
        """Return the reward for changing the cost to ``observations[0]``."""
        cost = float(observations[0])
        if self.origin is None:
            self._count_from(float(observation_view[self.initial]), observation_view)
        if cost == self.previous and (self.has_begun or not actions):
            return 0.0
        self.has_begun = True
        assert self.origin is not None
        assert self.scale is not None
        self.previous = cost
        # The difference from the last cost would accumulate rounding errors over many steps.
        reward = (self.origin - cost) / self.scale - self.earned
        self.earned += reward
        return reward

    def saving(self, observation_view: Mapping[str, Any]) -> float:
        """Return the saving that counts as 1.0; less than 1 counts as 1. `origin` is known."""
        return 1.0

    def _count_from(self, origin: float, observation_view: Mapping[str, Any]) -> None:
        self.origin = self.previous = origin
        self.earned = 0.0
        self.scale = max(self.saving(observation_view), 1.0)


class NormalizedCostReward(CostReward):
    """The cost saved as a share of the initial cost.

    The rewards of an episode sum to at most 1. An initial cost of 0 counts as 1.
    """

    def __init__(self, name: str, *, max: float | None = 1, **properties: Any) -> None:
        super().__init__(name, max=max, **properties)

    def saving(self, observation_view: Mapping[str, Any]) -> float:
        """Return the saving that counts as 1.0."""
        assert self.origin is not None
        return self.origin


class BaselineReward(NormalizedCostReward):
    """The cost saved as a share of the saving of a baseline pipeline.

    The rewards of an episode sum to 1.0 for a tie with the baseline, and to more for a better
    result. A baseline that saves nothing (or increases the cost) counts as saving 1: the reward
    is then the plain saving.
    """

    def __init__(self, name: str, *, baseline: str, **properties: Any) -> None:
        super().__init__(name, max=None, success_threshold=1, **properties)
        self.baseline = baseline

    def saving(self, observation_view: Mapping[str, Any]) -> float:
        """Return the saving of the baseline from the initial cost."""
        assert self.origin is not None
        return self.origin - float(observation_view[self.baseline])
