# SPDX-License-Identifier: MIT
"""The rewards: GFLOPS gained, plain or as a share of the machine's peak."""

from collections.abc import Mapping, Sequence
from typing import Any

from compiler_gym.spaces import ChangeReward, Reward

__all__ = ["FLOPSReward", "GainReward", "make_rewards"]


class FLOPSReward(ChangeReward):
    """The GFLOPS gained by an action since the last measurement."""

    def __init__(self) -> None:
        super().__init__("flops", "flops", initial="flops_at_reset", deterministic=False)


class GainReward(Reward):
    """A gain that the session measures by alternating runs of the old and the new nest."""

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
            f"The {unit} gained by the action, from alternating runs of the old and the new nest."
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
    """Return new rewards: each stores values of one environment's episode."""

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
