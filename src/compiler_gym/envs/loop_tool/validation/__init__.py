# SPDX-License-Identifier: MIT
"""Validation: replay the episode, then compare the nest's results with numpy's.

The session checks each tree before it times it, on one set of inputs. Here the tree is run on
others, and small ones by the interpreter too, which shares no code with what compiles them.
"""

import json
from collections.abc import Callable, Iterable

from compiler_gym.core import CompilerEnv, CompilerEnvState
from compiler_gym.errors import CompilerError, InvalidParameterError
from compiler_gym.validation import (
    Finding,
    Rung,
    Subject,
    ValidationError,
    ValidationResult,
    choose_rungs,
    climb,
)

__all__ = ["RUNGS", "validate"]

_INPUT_SEEDS = (1, 2, 3)


def _check_nest(subject: Subject, way: str) -> Finding:
    wrong: list[ValidationError] = []
    for seed in _INPUT_SEEDS:
        try:
            reply = json.loads(subject.env.send_param(f"check.{way}", str(seed)))
        except (CompilerError, InvalidParameterError) as error:
            return Finding.unknown(f"the nest was not run: {error}")
        if "unknown" in reply:
            return Finding.unknown(reply["unknown"])
        wrong += [
            ValidationError("the nest computes something else than numpy", {**one, "seed": seed})
            for one in reply["wrong"]
        ]
    return Finding.fail(wrong) if wrong else Finding.ok()


RUNGS = (
    Rung(
        "numpy",
        "Does the compiled nest compute what numpy does, on inputs that it was not timed on?",
        lambda subject: _check_nest(subject, "compiled"),
    ),
    Rung(
        "interpreter",
        "Does the tree mean what the program says, run point by point? (small programs)",
        lambda subject: _check_nest(subject, "interpreted"),
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
