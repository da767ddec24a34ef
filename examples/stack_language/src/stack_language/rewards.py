# SPDX-License-Identifier: MIT
"""What can be earned: instructions and cycles saved."""

from compiler_gym.spaces import Reward
from compiler_gym.spaces.rewards import CostReward, NormalizedCostReward

__all__ = ["make_rewards"]


def make_rewards() -> list[Reward]:
    """Return fresh rewards: each holds the numbers of one environment's episode."""
    rewards: list[Reward] = []
    for cost in ("Size", "Cycles"):
        shared = {"cost": cost, "initial": f"{cost}AtReset", "platform_dependent": False}
        rewards.append(CostReward(cost, **shared))
        rewards.append(NormalizedCostReward(f"{cost}Norm", **shared))
    return rewards
