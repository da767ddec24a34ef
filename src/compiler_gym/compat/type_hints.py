# SPDX-License-Identifier: MIT
"""The names that CompilerGym 0.2.5 had for types of Gymnasium's values."""

from typing import Any

__all__ = ["ActionType", "ObservationType", "RewardType", "StepType"]

ActionType = Any
"""An action: which type it has is the action space's."""
ObservationType = Any
"""An observation: which type it has is the observation space's."""
RewardType = float | None
"""What a step earns; None without a reward space."""
StepType = tuple[Any, Any, bool, bool, dict[str, Any]]
"""What a step returns: five values, as Gymnasium's."""
