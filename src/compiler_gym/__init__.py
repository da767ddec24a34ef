# SPDX-License-Identifier: MIT
"""Reinforcement learning environments for compiler optimisation.

    >>> import compiler_gym
    >>> env = compiler_gym.make("llvm-v0", reward_space="IrInstructionCountOz")
    >>> observation, info = env.reset()
    >>> env.close()

Importing this package starts nothing and loads nothing heavy: the names below
are fetched on first use, because every worker process imports it too.
"""

from typing import TYPE_CHECKING

from compiler_gym._gymnasium import register_when_imported
from compiler_gym._old_paths import offer_old_paths, refuse_old_package
from compiler_gym.lazy import door
from compiler_gym.paths import cache_path, site_data_path, transient_cache_path
from compiler_gym.version import __version__

if TYPE_CHECKING:
    # Not `envs`, which is reached by name alone from here: see the layers.
    from compiler_gym import datasets as datasets
    from compiler_gym import errors as errors
    from compiler_gym import leaderboard as leaderboard
    from compiler_gym import service as service
    from compiler_gym import spaces as spaces
    from compiler_gym import views as views
    from compiler_gym import wrappers as wrappers
    from compiler_gym.core import (
        CompilerEnv,
        CompilerEnvState,
        CompilerEnvStateReader,
        CompilerEnvStateWriter,
    )
    from compiler_gym.datasets import download
    from compiler_gym.debug import get_debug_level, get_logging_level, set_debug_level
    from compiler_gym.registration import COMPILER_GYM_ENVS, make, make_vec
    from compiler_gym.search import random_search
    from compiler_gym.validation import ValidationError, ValidationResult, validate_states

__all__ = [
    "COMPILER_GYM_ENVS",
    "CompilerEnv",
    "CompilerEnvState",
    "CompilerEnvStateReader",
    "CompilerEnvStateWriter",
    "ValidationError",
    "ValidationResult",
    "__version__",
    "cache_path",
    "download",
    "get_debug_level",
    "get_logging_level",
    "make",
    "make_vec",
    "random_search",
    "set_debug_level",
    "site_data_path",
    "transient_cache_path",
    "validate_states",
]

__getattr__ = door(
    __name__,
    {
        "COMPILER_GYM_ENVS": "compiler_gym.registration",
        "CompilerEnv": "compiler_gym.core",
        "CompilerEnvState": "compiler_gym.core",
        "CompilerEnvStateReader": "compiler_gym.core",
        "CompilerEnvStateWriter": "compiler_gym.core",
        "ValidationError": "compiler_gym.validation",
        "ValidationResult": "compiler_gym.validation",
        "download": "compiler_gym.datasets",
        "get_debug_level": "compiler_gym.debug",
        "get_logging_level": "compiler_gym.debug",
        "make": "compiler_gym.registration",
        "make_vec": "compiler_gym.registration",
        "random_search": "compiler_gym.search",
        "set_debug_level": "compiler_gym.debug",
        "validate_states": "compiler_gym.validation",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)


refuse_old_package(__file__)
register_when_imported()
offer_old_paths()
