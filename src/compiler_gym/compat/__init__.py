# SPDX-License-Identifier: MIT
"""Names of CompilerGym 0.2.5 that have other names or meanings today.

It is above all other packages and loaded only when one of its names is used: lower packages
export these names lazily. ``old_paths`` is the table of modules that moved, ``old_commands`` reads
old command lines, ``old_datasets`` and ``old_names`` have what stood in the package, and
``old_scripts`` has flags and helpers of scripts.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.compat.old_datasets import activate, deactivate, delete, require
    from compiler_gym.compat.old_names import (
        ActionType,
        ConnectionOpts,
        ObservationType,
        RewardType,
        StepType,
        get_debug_level,
        get_logging_level,
        logging_level_to_debug_level,
        set_debug_level,
    )
    from compiler_gym.compat.old_scripts import random_search

__all__ = [
    "ActionType",
    "ConnectionOpts",
    "ObservationType",
    "RewardType",
    "StepType",
    "activate",
    "deactivate",
    "delete",
    "get_debug_level",
    "get_logging_level",
    "logging_level_to_debug_level",
    "random_search",
    "require",
    "set_debug_level",
]

__getattr__ = door(__name__)
