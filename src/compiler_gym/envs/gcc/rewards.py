# SPDX-License-Identifier: MIT
"""The rewards: one for each cost, plain and scaled."""

from compiler_gym.envs.gcc.observations import TABLE
from compiler_gym.spaces import Reward
from compiler_gym.tables import cost_rewards

__all__ = ["make_rewards"]


def make_rewards() -> list[Reward]:
    """Return fresh rewards: each holds the numbers of one environment's episode."""
    return cost_rewards(TABLE.costs)
