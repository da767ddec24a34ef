# SPDX-License-Identifier: MIT
"""Replay a state in a fresh process and compare what comes out."""

import math
import time
from collections.abc import Callable

from compiler_gym.core import CompilerEnv, CompilerEnvState
from compiler_gym.errors import CompilerGymError
from compiler_gym.validation.result import ValidationError, ValidationResult

__all__ = ["validate_by_replay"]

_TOLERANCE = 1e-9
"""Relative: rewards are sums of a few quotients, added up in another order."""


def validate_by_replay(
    state: CompilerEnvState, make_env: Callable[[], CompilerEnv]
) -> ValidationResult:
    """Return whether a fresh environment reaches the hash and the reward of `state`."""
    started = time.monotonic()
    try:
        replayed = _replay(state, make_env)
    except CompilerGymError as error:
        finding = ValidationError(
            "the actions cannot be replayed",
            {"error": type(error).__name__, "details": str(error)},
        )
        return ValidationResult(
            state, time.monotonic() - started, actions_replay_failed=True, errors=(finding,)
        )
    errors = list(_differences(state, replayed))
    return ValidationResult(
        state,
        time.monotonic() - started,
        reward_validated=state.has_reward and replayed.has_reward,
        reward_validation_failed=any("reward" in error.data for error in errors),
        errors=tuple(errors),
    )


def _replay(state: CompilerEnvState, make_env: Callable[[], CompilerEnv]) -> CompilerEnvState:
    with make_env() as env:
        env.apply(state)
        return env.state


def _differences(recorded: CompilerEnvState, replayed: CompilerEnvState) -> list[ValidationError]:
    found: list[ValidationError] = []
    if (
        recorded.reward is not None
        and replayed.reward is not None
        and not math.isclose(
            recorded.reward, replayed.reward, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE
        )
    ):
        found.append(
            ValidationError(
                "the replay earns another reward",
                {"reward": recorded.reward, "replayed": replayed.reward},
            )
        )
    versions = (recorded.compiler_version, replayed.compiler_version)
    if None not in versions and versions[0] != versions[1]:
        found.append(
            ValidationError(
                "the state was recorded with another compiler",
                {"recorded": versions[0], "here": versions[1]},
            )
        )
    if recorded.state_hash and replayed.state_hash and recorded.state_hash != replayed.state_hash:
        found.append(
            ValidationError(
                "the replay reaches another program",
                {"hash": recorded.state_hash, "replayed": replayed.state_hash},
            )
        )
    return found
