# SPDX-License-Identifier: MIT
"""Forks of environments with wrappers of Gymnasium around them, which know nothing of forks."""

import copy
from typing import Any

import gymnasium

from compiler_gym.core.env import CompilerEnv
from compiler_gym.errors import InvalidParameterError

__all__ = ["fork_of"]


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
