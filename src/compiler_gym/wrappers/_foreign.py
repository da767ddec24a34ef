# SPDX-License-Identifier: MIT
"""How a wrapper talks to what is below it, also when that is a wrapper of Gymnasium.

Gymnasium's wrappers know `reset` and `step` and nothing of forks, several actions or
spaces per step. Here the first two are enough for the rest wherever that is possible.
"""

import copy
from collections.abc import Iterable
from typing import Any

import gymnasium

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import CompilerGymError, InvalidParameterError

__all__ = ["StepResult", "attribute_of", "blamed", "fork_of", "multistep_of", "reset_of"]


StepResult = tuple[Any, Any, bool, bool, dict[str, Any]]
"""Observation, reward, terminated, truncated, info."""


def reset_of(
    env: Any, seed: int | None, options: dict[str, Any] | None, arguments: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Reset `env`; one of Gymnasium's gets the arguments as options, which mean the same."""
    if isinstance(env, CompilerEnv):
        return env.reset(seed=seed, options=options, **arguments)
    return env.reset(seed=seed, options={**(options or {}), **arguments} or None)


def multistep_of(
    env: Any,
    actions: Iterable[Any],
    observation_spaces: Any,
    reward_spaces: Any,
    timeout: float | None,
) -> StepResult:
    """Apply `actions` in `env`, one by one if it knows no other way."""
    if isinstance(env, CompilerEnv):
        return env.multistep(actions, observation_spaces, reward_spaces, timeout=timeout)
    if observation_spaces is not None or reward_spaces is not None:
        raise InvalidParameterError(
            f"{type(env).__name__} is a wrapper of Gymnasium: expected no spaces for a single step"
        )
    total: Any = None
    result: Any = None
    for action in actions:
        result = env.step(action)
        total = result[1] if total is None else total + result[1]
        if result[2] or result[3]:
            break
    if result is None:
        return _observed(env, timeout)
    return result[0], total, *result[2:]


def fork_of(env: Any) -> Any:
    """Return a fork of `env`; a wrapper of Gymnasium is copied around one of what is below."""
    if isinstance(env, CompilerEnv):
        return env.fork()
    if not isinstance(env, gymnasium.Wrapper):
        raise InvalidParameterError(f"{type(env).__name__} cannot be forked")
    below = fork_of(env.env)
    twin = object.__new__(type(env))
    memo: dict[int, Any] = {id(env): twin, id(env.env): below}
    for name, value in env.__dict__.items():
        twin.__dict__[name] = copy.deepcopy(value, memo)
    return twin


def blamed(result: StepResult, error: CompilerGymError) -> StepResult:
    """Return the result of a step that failed because of `error`."""
    if not result[3]:
        return result
    details = {"error": error, "error_type": type(error).__name__, "error_details": str(error)}
    return (*result[:4], {**result[4], **details})


def attribute_of(env: Any, name: str) -> Any:
    """Return the attribute `name` of `env` or of what it wraps."""
    if isinstance(env, CompilerEnv) or not isinstance(env, gymnasium.Wrapper):
        return getattr(env, name)
    return getattr(env, name) if hasattr(env, name) else attribute_of(env.env, name)


def _observed(env: Any, timeout: float | None) -> StepResult:
    """Return the result of no action: a look at the program."""
    seen, reward, terminated, truncated, info = multistep_of(env.env, [], None, None, timeout)
    if isinstance(env, gymnasium.ObservationWrapper):
        seen = env.observation(seen)
    if isinstance(env, gymnasium.RewardWrapper):
        reward = env.reward(reward)
    return seen, reward, terminated, truncated, info
