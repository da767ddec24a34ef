# SPDX-License-Identifier: MIT
"""What can be earned: GFLOPS gained, plain or as a share of the machine's peak."""

from collections.abc import Mapping, Sequence
from typing import Any

from compiler_gym.spaces import Reward

__all__ = ["GainReward", "GrowthReward", "make_rewards"]


class GrowthReward(Reward):
    """How much an observation grew since the last step: what is to be raised, not lowered.

    `initial` is the observation of the program before any action, asked for only when the
    reward did not see that itself.

    >>> reward = GrowthReward("flops", initial="flops_at_reset", deterministic=False)
    >>> reward.reset("benchmark://demo/1", {})
    >>> reward.start([2.0], {})
    >>> [reward.update([0], [flops], {}) for flops in (2.5, 4.5, 4.0)]
    [0.5, 2.0, -0.5]
    """

    def __init__(self, name: str, *, initial: str, deterministic: bool) -> None:
        super().__init__(
            name,
            observation_spaces=[name],
            default_value=0,
            default_negates_returns=True,
            deterministic=deterministic,
            platform_dependent=not deterministic,
        )
        self.initial = initial
        self.description = f"How much `{name}` grew: after the action, minus before it."
        self.previous: float | None = None
        """The observation of the last update, or of the start."""

    def reset(self, benchmark: str, observation_view: Mapping[str, Any]) -> None:
        """Forget the last episode."""
        self.previous = None

    def start(self, observations: Sequence[Any], observation_view: Mapping[str, Any]) -> None:
        """Take the observation of the program before any action."""
        self.previous = float(observations[0])

    def update(
        self,
        actions: Sequence[Any],
        observations: Sequence[Any],
        observation_view: Mapping[str, Any],
    ) -> float:
        """Return the growth of the observation."""
        if self.previous is None:
            self.previous = float(observation_view[self.initial])
        before, self.previous = self.previous, float(observations[0])
        return self.previous - before


class GainReward(Reward):
    """A gain that the session measures itself: the nest before and the nest now, in turns."""

    def __init__(self, name: str, observation: str, unit: str = "GFLOPS") -> None:
        super().__init__(
            name,
            observation_spaces=[observation],
            default_value=0,
            default_negates_returns=True,
            deterministic=False,
            platform_dependent=True,
        )
        self.description = (
            f"The {unit} that the action gained, from runs of the nest before and the nest now in "
            "turns."
        )

    def update(
        self,
        actions: Sequence[Any],
        observations: Sequence[Any],
        observation_view: Mapping[str, Any],
    ) -> float:
        """Return the gain."""
        return float(observations[0]) if actions else 0.0


def make_rewards() -> list[Reward]:
    """Return fresh rewards: each holds the numbers of one environment's episode."""
    return [
        GrowthReward("flops", initial="flops_at_reset", deterministic=False),
        GrowthReward(
            "flops_deterministic", initial="flops_deterministic_at_reset", deterministic=True
        ),
        GainReward("flops_gain", "flops_gain"),
        GainReward("peak_gain", "peak_gain", "share of the machine's peak"),
    ]
