# SPDX-License-Identifier: MIT
"""Validation: replay a schedule, run the program, and compare its results with numpy's."""

from collections.abc import Callable, Iterable

from compiler_gym.core import CompilerEnv, CompilerEnvState
from compiler_gym.envs.mlir.validation.runs import check_runs
from compiler_gym.validation import Rung, ValidationResult, choose_rungs, climb

__all__ = ["RUNGS", "validate"]

RUNGS = (Rung("run", "Does it compute on random inputs what numpy does?", check_runs),)
"""Every rung above the replay."""


def validate(
    state: CompilerEnvState,
    make_env: Callable[[], CompilerEnv],
    rungs: Iterable[str] | None = None,
) -> ValidationResult:
    """Return what a replay and the named `rungs` say of `state`; None asks every rung."""
    return climb(state, make_env, choose_rungs(RUNGS, rungs))
