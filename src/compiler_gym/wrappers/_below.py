# SPDX-License-Identifier: MIT
"""How a wrapper talks to what is below it, also when that is a wrapper of Gymnasium.

Gymnasium's wrappers know `reset` and `step` and nothing of forks, several actions or
spaces per step. Here the first two are enough for the rest wherever that is possible.
"""

from collections.abc import Iterable
from typing import Any

import gymnasium

from compiler_gym.core import CompilerEnv, StepResult, fork_of
from compiler_gym.errors import CompilerGymError, InvalidActionError, InvalidParameterError

__all__ = [
    "StepResult",
    "action_count",
    "attribute_of",
    "blamed",
    "fork_of",
    "multistep_of",
    "reset_of",
]


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
    is_ours = isinstance(env, CompilerEnv)
    if is_ours and not getattr(env, "changes_only_step", False):
        return env.multistep(actions, observation_spaces, reward_spaces, timeout=timeout)
    if not is_ours and (observation_spaces is not None or reward_spaces is not None):
        raise InvalidParameterError(
            f"{type(env).__name__} is a wrapper of Gymnasium: expected no spaces for a single step"
        )
    asked = {
        "observation_spaces": observation_spaces,
        "reward_spaces": reward_spaces,
        "timeout": timeout,
    }
    asked = {name: value for name, value in asked.items() if is_ours and value is not None}
    results: list[StepResult] = []
    for action in actions:
        results.append(env.step(action, **asked))
        if results[-1][2] or results[-1][3]:
            break
    if not results:
        return _observed(env, observation_spaces, reward_spaces, timeout)
    return _as_one(results)


def _as_one(results: list[StepResult]) -> StepResult:
    """Return what a multistep would have returned where each action was a step."""
    seen, _, terminated, truncated, info = results[-1]
    info = dict(info)
    for key, combine in (("action_had_no_effect", all), ("new_action_space", any)):
        if key in info:
            info[key] = combine(result[4].get(key, False) for result in results)
    rewards = [result[1] for result in results]
    if isinstance(rewards[0], list):
        return seen, [sum(each) for each in zip(*rewards, strict=True)], terminated, truncated, info
    total = None if None in rewards else sum(rewards)
    return seen, total, terminated, truncated, info


def action_count(env: Any) -> int:
    """Return how many actions led to where `env` is."""
    try:
        return len(attribute_of(env, "actions"))
    except InvalidActionError:  # made inside it of actions that it does not offer
        return len(env.unwrapped.actions)


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


def _observed(
    env: Any, observation_spaces: Any, reward_spaces: Any, timeout: float | None
) -> StepResult:
    """Return the result of no action: a look at the program."""
    if isinstance(env, CompilerEnv):
        return env.multistep([], observation_spaces, reward_spaces, timeout=timeout)
    seen, reward, terminated, truncated, info = multistep_of(env.env, [], None, None, timeout)
    if isinstance(env, gymnasium.ObservationWrapper):
        seen = env.observation(seen)
    if isinstance(env, gymnasium.RewardWrapper):
        reward = env.reward(reward)
    return seen, reward, terminated, truncated, info
