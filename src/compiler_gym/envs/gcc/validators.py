# SPDX-License-Identifier: MIT
"""How to tell that GCC broke a program: so far, by replaying the episode."""

from collections.abc import Callable

from compiler_gym.core import CompilerEnv, CompilerEnvState
from compiler_gym.validation import ValidationResult, validate_by_replay

__all__ = ["validate"]


def validate(state: CompilerEnvState, make_env: Callable[[], CompilerEnv]) -> ValidationResult:
    """Return what is known of `state` after a replay in a fresh worker."""
    return validate_by_replay(state, make_env)
