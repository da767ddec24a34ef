# SPDX-License-Identifier: MIT
"""What can be earned: a reward for each cost, plain and scaled."""

from compiler_gym.rewards import BaselineReward, CostReward, NormalizedCostReward
from compiler_gym.spaces import Reward

__all__ = ["BASELINES", "COSTS", "make_rewards"]

COSTS = (
    ("IrInstructionCount", "IrInstructionCount", "IrInstructionCount", False),
    ("ObjectTextSizeBytes", "ObjectTextSize", "ObjectTextSizeBytes", True),
)
"""Reward, prefix of its variants, the observation it lowers, platform dependence."""

BASELINES = ("O3", "Oz")


def make_rewards() -> list[Reward]:
    """Return fresh rewards: each holds the numbers of one environment's episode."""
    rewards: list[Reward] = []
    for name, prefix, cost, platform in COSTS:
        shared = {"cost": cost, "initial": f"{prefix}O0", "platform_dependent": platform}
        rewards.append(CostReward(name, **shared))
        rewards.append(NormalizedCostReward(f"{prefix}Norm", **shared))
        rewards.extend(
            BaselineReward(f"{prefix}{level}", baseline=f"{prefix}{level}", **shared)
            for level in BASELINES
        )
    return rewards
