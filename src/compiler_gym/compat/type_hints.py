# SPDX-License-Identifier: MIT
"""The names in CompilerGym 0.2.5 for types of Gymnasium's values."""

from typing import Any

__all__ = ["ActionType", "ObservationType", "RewardType", "StepType"]

ActionType = Any
"""An action; its type depends on the action space."""
ObservationType = Any
"""An observation; its type depends on the observation space."""
RewardType = float | None
"""The reward of a step; None without a reward space."""
StepType = tuple[Any, Any, bool, bool, dict[str, Any]]
"""The five values of a step, as in Gymnasium."""
