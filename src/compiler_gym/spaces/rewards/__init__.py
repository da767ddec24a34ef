# SPDX-License-Identifier: MIT
"""Arithmetic on observations.

- ``cost``: rewards for lowering a cost, whose sum is exact.
- ``change``: rewards for the change of a measured value.
"""

from compiler_gym.spaces.rewards.change import ChangeReward
from compiler_gym.spaces.rewards.cost import (
    BaselineReward,
    CostReward,
    NormalizedCostReward,
    Origin,
)

__all__ = ["BaselineReward", "ChangeReward", "CostReward", "NormalizedCostReward", "Origin"]
