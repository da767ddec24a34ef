# SPDX-License-Identifier: MIT
"""Validation: replay the episode, run its program, and compare it with the -O0 build.

Some options change the meaning of a program: ``-ffast-math`` can change a printed digit, and
``-fpack-struct`` the layout that a library expects. A failure therefore shows an effect of the
options, not necessarily a bug in GCC. ``build`` links programs, ``runs`` compares them.
"""

from collections.abc import Callable, Iterable

from compiler_gym.core import CompilerEnv, CompilerEnvState
from compiler_gym.validation import Rung, ValidationResult, choose_rungs, climb
from compiler_gym_gcc.validation.runs import check_runs, is_linked

__all__ = ["RUNGS", "validate"]

RUNGS = (
    Rung(
        "run",
        "Does the program behave like a -O0 build on its inputs?",
        check_runs,
        applies=is_linked,
    ),
)
"""All rungs after the replay."""


def validate(
    state: CompilerEnvState,
    make_env: Callable[[], CompilerEnv],
    rungs: Iterable[str] | None = None,
) -> ValidationResult:
    """Return the results of a replay and of the named `rungs` for `state`; None runs all rungs."""
    return climb(state, make_env, choose_rungs(RUNGS, rungs))
