# SPDX-License-Identifier: MIT
"""Validation: replay the episode, run its program, and compare it with the build at -O0.

Some options ask for another program: ``-ffast-math`` may change a printed digit, and
``-fpack-struct`` the layout that a library expects. A failure shows an effect of
the options, which need not be a bug of GCC. ``build`` makes programs, ``runs`` compares them.
"""

from collections.abc import Callable, Iterable

from compiler_gym.core import CompilerEnv, CompilerEnvState
from compiler_gym.envs.gcc.validation.runs import check_runs, is_linked
from compiler_gym.validation import Rung, ValidationResult, choose_rungs, climb

__all__ = ["RUNGS", "validate"]

RUNGS = (
    Rung(
        "run",
        "Does the program do on its inputs what a -O0 build does?",
        check_runs,
        applies=is_linked,
    ),
)
"""Every rung above the replay."""


def validate(
    state: CompilerEnvState,
    make_env: Callable[[], CompilerEnv],
    rungs: Iterable[str] | None = None,
) -> ValidationResult:
    """Return what a replay and the named `rungs` say of `state`; None asks every rung."""
    return climb(state, make_env, choose_rungs(RUNGS, rungs))
