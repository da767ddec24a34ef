# SPDX-License-Identifier: MIT
"""Replay a state in a fresh process and compare the results."""

import math
import warnings
from collections.abc import Mapping

from compiler_gym.core import CompilerEnv, CompilerEnvState, StateVersionWarning
from compiler_gym.spaces import Reward
from compiler_gym.validation.result import ValidationError

__all__ = ["replay", "replay_differences"]

_TOLERANCE = 1e-9
"""Relative: rewards are sums of a few quotients, added in a different order."""
_PRINTED = 5e-7
"""Absolute: other tools print rewards with six digits."""


def replay(env: CompilerEnv, state: CompilerEnvState) -> CompilerEnvState:
    """Bring `env` to `state`, with the reward space of `state`, and return the new state.

    Raises the typed error of an action space, a program or a compiler that fails.
    """
    if state.reward_space is not None and state.reward_space in env.reward:
        env.reward_space = state.reward_space
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StateVersionWarning)  # the caller compares versions
        env.apply(state)
    return env.state


def replay_differences(
    recorded: CompilerEnvState,
    replayed: CompilerEnvState,
    rewards: Mapping[str, Reward] | None = None,
) -> list[ValidationError]:
    """Return the differences between a replay and the recorded state, except compiler versions.

    With `rewards`, by name, measured rewards are not compared: they vary between runs.
    """
    errors: list[ValidationError] = []
    spaces = (recorded.reward_space, replayed.reward_space)
    comparable = None in spaces or spaces[0] == spaces[1]
    space = (rewards or {}).get(recorded.reward_space or "")
    comparable = comparable and (space is None or space.deterministic)
    if comparable and not _same_reward(recorded.reward, replayed.reward):
        errors.append(
            ValidationError(
                "the replay earns a different reward",
                {"reward": recorded.reward, "replayed": replayed.reward},
            )
        )
    if recorded.state_hash and replayed.state_hash and recorded.state_hash != replayed.state_hash:
        errors.append(
            ValidationError(
                "the replay reaches a different program",
                {"hash": recorded.state_hash, "replayed": replayed.state_hash},
            )
        )
    return errors


def _same_reward(recorded: float | None, replayed: float | None) -> bool:
    if recorded is None or replayed is None:
        return True
    return math.isclose(recorded, replayed, rel_tol=_TOLERANCE, abs_tol=_PRINTED)
