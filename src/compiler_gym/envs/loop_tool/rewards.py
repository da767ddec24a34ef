# SPDX-License-Identifier: MIT
"""The rewards: GFLOPS gained, plain or as a share of the machine's peak."""

from collections.abc import Mapping, Sequence
from typing import Any

from compiler_gym.spaces import Reward
from compiler_gym.spaces.rewards import ChangeReward

__all__ = ["FLOPSReward", "GainReward", "make_rewards"]


class FLOPSReward(ChangeReward):
    """The GFLOPS that an action gained over the last measurement."""

    def __init__(self) -> None:
        super().__init__("flops", "flops", initial="flops_at_reset", deterministic=False)


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
        FLOPSReward(),
        ChangeReward(
            "flops_deterministic",
            "flops_deterministic",
            initial="flops_deterministic_at_reset",
            deterministic=True,
            platform_dependent=False,
        ),
        GainReward("flops_gain", "flops_gain"),
        GainReward("peak_gain", "peak_gain", "share of the machine's peak"),
    ]
