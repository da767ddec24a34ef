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
    below = fork_of(wrapper.env)
    try:
        return copy.deepcopy(wrapper, _known_copies(wrapper.env, below))
    except BaseException:
        below.close()
        raise


def _known_copies(env: Any, fork: Any) -> dict[int, Any]:
    """Return the memo that knows `fork` and all below it as the copies of `env` and its own.

    A wrapper's own state is copied around them, whichever of them it holds.
    """
    known = {id(env): fork}
    if isinstance(env, gymnasium.Wrapper):
        wrapper = cast("gymnasium.Wrapper[Any, Any, Any, Any]", env)
        known |= _known_copies(wrapper.env, fork.env)
    return known
