# SPDX-License-Identifier: MIT
"""Arithmetic on observations.

- ``cost``: rewards for lowering a cost, whose sum is exact.
- ``change``: what something that is measured anew each time rose or fell by.
"""

from compiler_gym.rewards.change import ChangeReward
from compiler_gym.rewards.cost import BaselineReward, CostReward, NormalizedCostReward, Origin

__all__ = ["BaselineReward", "ChangeReward", "CostReward", "NormalizedCostReward", "Origin"]
