# SPDX-License-Identifier: MIT
"""Arithmetic on measured costs: ``cost`` has the rewards for lowering one."""

from compiler_gym.rewards.cost import BaselineReward, CostReward, NormalizedCostReward, Origin

__all__ = ["BaselineReward", "CostReward", "NormalizedCostReward", "Origin"]
