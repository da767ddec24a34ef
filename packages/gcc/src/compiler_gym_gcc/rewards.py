# SPDX-License-Identifier: MIT
"""The rewards: plain and scaled ones for each cost."""

from compiler_gym.spaces import Reward
from compiler_gym.tables import cost_rewards
from compiler_gym_gcc.observations import TABLE

__all__ = ["make_rewards"]


def make_rewards() -> list[Reward]:
    """Return new rewards; an environment needs its own because each holds an episode's state."""
    return cost_rewards(TABLE.costs)
