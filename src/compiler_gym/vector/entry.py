# SPDX-License-Identifier: MIT
"""The entry point through which Gymnasium finds the vector form of an environment.

A `vector_entry_point` has the form ``"module:name"``, so that specs can be serialised. For this
module, the name is ``package.module.Class`` of an environment, and the attribute is a function
that makes a vector of such environments.
"""

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

from compiler_gym.vector.vector_env import CompilerVectorEnv

_VECTOR = ("autoreset_mode", "copy", "max_episode_steps", "sampler")
"""The arguments of `CompilerVectorEnv`; others belong to the environment."""


def make_vector(
    make_env: Callable[..., Any], *, num_envs: int = 1, **arguments: Any
) -> CompilerVectorEnv:
    """Return `num_envs` environments as one vector.

    Args:
        make_env: A function that makes an environment.
        num_envs: The number of environments.
        **arguments: Arguments of `CompilerVectorEnv` or of `make_env`, by name.
    """
    own = {name: arguments.pop(name) for name in _VECTOR if name in arguments}
    make = partial(make_env, **arguments)
    return CompilerVectorEnv([make] * num_envs, **own)


def __getattr__(name: str) -> Any:
    module, _, cls = name.rpartition(".")
    if not module:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return partial(make_vector, getattr(importlib.import_module(module), cls))
