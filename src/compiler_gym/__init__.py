# SPDX-License-Identifier: MIT
"""Reinforcement learning environments for compiler optimisation.

    >>> import compiler_gym
    >>> env = compiler_gym.make("llvm-v0", reward_space="IrInstructionCountOz")
    >>> observation, info = env.reset()
    >>> env.close()

Importing this package starts no process and loads nothing heavy: the names below
are fetched on first use, because every worker process imports it too.
"""

import os as _os
from typing import TYPE_CHECKING, Any

from compiler_gym import _import_hooks
from compiler_gym.lazy import door, load_named
from compiler_gym.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

    # Not `envs`: compilers are accessed by name only (see the import layers).
    from compiler_gym import datasets as datasets
    from compiler_gym import errors as errors
    from compiler_gym import service as service
    from compiler_gym import spaces as spaces
    from compiler_gym import wrappers as wrappers
    from compiler_gym.core import (
        CompilerEnv,
        CompilerEnvState,
        CompilerEnvStateReader,
        CompilerEnvStateWriter,
    )
    from compiler_gym.datasets import download
    from compiler_gym.files.paths import cache_path, site_data_path, transient_cache_path
    from compiler_gym.registration import COMPILER_GYM_ENVS, make, make_vec
    from compiler_gym.validation import ValidationError, ValidationResult, validate_states

    # Declared, because no module may import `compat`, the top layer.
    get_debug_level: Callable[[], int]
    get_logging_level: Callable[[], int]
    random_search: Callable[..., tuple[float, list[Any]]]
    set_debug_level: Callable[[int], None]

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
    dict.fromkeys(
        ("get_debug_level", "get_logging_level", "random_search", "set_debug_level"),
        "compiler_gym.compat",
    ),
)


def __dir__() -> list[str]:
    return sorted(__all__)


_folder = _os.path.dirname(__file__)
if _os.path.isdir(_os.path.join(_folder, "util")):  # every release of 0.2.5 has it, this has not
    load_named("compiler_gym.compat.old_paths:refuse_old_package")(_folder)
_import_hooks.install()
