# SPDX-License-Identifier: MIT
"""What can be earned: instructions and cycles saved."""

from compiler_gym.spaces import CostReward, NormalizedCostReward, Reward

__all__ = ["make_rewards"]


def make_rewards() -> list[Reward]:
    """Return fresh rewards: each holds the numbers of one environment's episode."""
    rewards: list[Reward] = []
    for cost in ("Size", "Cycles"):
        initial = f"{cost}AtReset"
        rewards.append(CostReward(cost, cost=cost, initial=initial, platform_dependent=False))
        rewards.append(
            NormalizedCostReward(
                f"{cost}Norm", cost=cost, initial=initial, platform_dependent=False
            )
        )
    return rewards
