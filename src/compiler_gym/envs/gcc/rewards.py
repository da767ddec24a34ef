# SPDX-License-Identifier: MIT
"""What can be earned: a reward for each cost, plain and scaled."""

from compiler_gym.envs.gcc.observations import COSTS, RUN_COSTS
from compiler_gym.rewards import BaselineReward, CostReward, NormalizedCostReward
from compiler_gym.spaces import Reward

__all__ = ["SCALES", "make_rewards"]

SCALES = ("os", "o2", "o3")
"""The levels whose saving counts as 1: ``obj_size_os``."""


def make_rewards() -> list[Reward]:
    """Return fresh rewards: each holds the numbers of one environment's episode."""
    rewards: list[Reward] = []
    for cost in (*COSTS, *RUN_COSTS):
        shared = {"cost": cost, "initial": f"{cost}_o0", "platform_dependent": True}
        rewards.append(CostReward(cost, **shared))
        if cost == "runtime_seconds":
            continue  # scales count a saving below 1 as 1, and programs take less than a second
        rewards.append(NormalizedCostReward(f"{cost}_norm", **shared))
        rewards.extend(
            BaselineReward(f"{cost}_{level}", baseline=f"{cost}_{level}", **shared)
            for level in SCALES
        )
    return rewards
