# SPDX-License-Identifier: MIT
"""Validation: replay the episode, then compare the nest's results with NumPy's.

The session checks each tree on one set of inputs before timing it. Here the tree runs on other
inputs, and small trees also in the interpreter, which shares no code with the compiler.
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


def _check_nest(subject: Subject, method: str) -> Finding:
    errors: list[ValidationError] = []
    for seed in _INPUT_SEEDS:
        try:
            reply = json.loads(subject.env.send_param(f"check.{method}", str(seed)))
        except (CompilerError, InvalidParameterError) as error:
            return Finding.unknown(f"the nest was not run: {error}")
        if "unknown" in reply:
            return Finding.unknown(reply["unknown"])
        errors += [
            ValidationError("the nest disagrees with NumPy", {**row, "seed": seed})
            for row in reply["wrong"]
        ]
    return Finding.fail(errors) if errors else Finding.ok()


RUNGS = (
    Rung(
        "numpy",
        "Does the compiled nest agree with NumPy on inputs that it was not timed on?",
        lambda subject: _check_nest(subject, "compiled"),
    ),
    Rung(
        "interpreter",
        "Does the tree agree with the program when interpreted point by point? (small programs)",
        lambda subject: _check_nest(subject, "interpreted"),
    ),
)
"""Every rung after the replay."""


def validate(
    state: CompilerEnvState,
    make_env: Callable[[], CompilerEnv],
    rungs: Iterable[str] | None = None,
) -> ValidationResult:
    """Return the result of a replay of `state` and of the named `rungs`; None selects all."""
    return climb(state, make_env, choose_rungs(RUNGS, rungs))
