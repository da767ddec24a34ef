# SPDX-License-Identifier: MIT
"""Replays an episode and reports findings: records, not exceptions.

``result`` is the record, ``replay`` compares a state with a fresh run of it.
"""

from compiler_gym.validation.replay import validate_by_replay
from compiler_gym.validation.result import ValidationError, ValidationResult

__all__ = ["ValidationError", "ValidationResult", "validate_by_replay"]
