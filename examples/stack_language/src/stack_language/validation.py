# SPDX-License-Identifier: MIT
"""How to tell that a rule broke a program: replay the episode, run both programs, compare."""

from collections.abc import Callable
from dataclasses import replace

from compiler_gym.core import CompilerEnv, CompilerEnvState
from compiler_gym.validation import ValidationError, ValidationResult, validate_by_replay
from stack_language._language import parse, run

__all__ = ["validate"]


def validate(state: CompilerEnvState, make_env: Callable[[], CompilerEnv]) -> ValidationResult:
    """Return what is known of `state` after a replay and a run."""
    result = validate_by_replay(state, make_env)
    if result.actions_replay_failed:
        return result
    with make_env() as env:
        env.reset(benchmark=state.benchmark)
        wanted = run(parse(env.observation["Text"].encode()))
        env.apply(state)
        found = run(parse(env.observation["Text"].encode()))
    if wanted == found:
        return replace(result, benchmark_semantics_validated=True)
    error = ValidationError("the program prints something else", {"was": wanted, "is": found})
    return replace(
        result, benchmark_semantics_validation_failed=True, errors=(*result.errors, error)
    )
