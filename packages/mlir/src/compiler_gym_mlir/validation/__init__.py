# SPDX-License-Identifier: MIT
"""Validation: replay a schedule, run the program, and compare its results with NumPy's."""

from collections.abc import Callable, Iterable

from compiler_gym.core import CompilerEnv, CompilerEnvState
from compiler_gym.validation import Rung, ValidationResult, choose_rungs, climb
from compiler_gym_mlir.validation.runs import check_runs

__all__ = ["RUNGS", "validate"]

RUNGS = (Rung("run", "Does the program agree with NumPy on random inputs?", check_runs),)
"""Every rung after the replay."""


def validate(
    state: CompilerEnvState,
    make_env: Callable[[], CompilerEnv],
    rungs: Iterable[str] | None = None,
) -> ValidationResult:
    """Return the result of a replay of `state` and of the named `rungs`; None selects all."""
    return climb(state, make_env, choose_rungs(RUNGS, rungs))
