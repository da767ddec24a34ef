# SPDX-License-Identifier: MIT
"""Forks of environments inside wrappers of Gymnasium, which cannot fork themselves."""

import copy
from typing import Any, cast

import gymnasium

from compiler_gym.core.env import CompilerEnv
from compiler_gym.errors import InvalidParameterError

__all__ = ["fork_wrapped"]


def fork_wrapped(env: Any) -> Any:
    """Return a fork of `env`: copies of Gymnasium's wrappers around a fork of the environment.

    Raises:
        InvalidParameterError: `env` is neither a `CompilerEnv` nor a wrapper around one.
        ServiceError: The worker was lost.
    """
    if isinstance(env, CompilerEnv):
        return cast("CompilerEnv", env).fork()  # `isinstance` loses the type parameters
    if not isinstance(env, gymnasium.Wrapper):
        raise InvalidParameterError(f"{type(env).__name__} cannot be forked")
    wrapper = cast("gymnasium.Wrapper[Any, Any, Any, Any]", env)
    below = fork_wrapped(wrapper.env)
    try:
        return copy.deepcopy(wrapper, _map_copies(wrapper.env, below))
    except BaseException:
        below.close()
        raise


def _map_copies(env: Any, fork: Any) -> dict[int, Any]:
    """Return the memo for `copy.deepcopy` in which `fork`, and each layer below it, is the copy of
    the same layer of `env`."""
    copies = {id(env): fork}
    if isinstance(env, gymnasium.Wrapper):
        wrapper = cast("gymnasium.Wrapper[Any, Any, Any, Any]", env)
        copies |= _map_copies(wrapper.env, fork.env)
    return copies
