# SPDX-License-Identifier: MIT
"""Forks of environments with wrappers of Gymnasium around them, which know nothing of forks."""

import copy
from typing import Any, cast

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
    wrapper = cast("gymnasium.Wrapper[Any, Any, Any, Any]", env)
    # The memo knows the copy of what is below: the wrapper's own state is copied around it.
    return copy.deepcopy(wrapper, {id(wrapper.env): fork_of(wrapper.env)})
