# SPDX-License-Identifier: MIT
"""The rewards of ``llvm-v0``, with the passes that a reset runs counted as part of the episode."""

from compiler_gym.envs.llvm import SpeedupReward, buildtime_reward
from compiler_gym.spaces import Origin, Reward
from compiler_gym.tables import cost_rewards
from compiler_gym_inline.llvm.observations import INLINE_TABLE

__all__ = ["make_inline_rewards"]


def make_inline_rewards() -> list[Reward]:
    """Return new rewards, because each stores the state of one environment's episode."""
    return [
        *cost_rewards(INLINE_TABLE.costs, counts_from=Origin.INITIAL),
        buildtime_reward(),
        SpeedupReward(),
    ]
