# SPDX-License-Identifier: MIT
"""Names of CompilerGym 0.2.5 that have other names or meanings today.

It is above all other packages and loaded only when one of its names is used: lower packages
export these names lazily. ``old_paths`` is the table of modules that moved, ``old_commands`` reads
old command lines, ``connection_opts`` explains the options of the old server, and ``managing`` has
functions on datasets that were already deprecated. ``old_datasets`` names the successors of
removed datasets. ``old_flags`` and ``old_helpers`` are for old scripts, ``searching`` and
``debug`` have functions of the package, and
``type_hints`` names of types.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.compat.connection_opts import ConnectionOpts
    from compiler_gym.compat.debug import (
        get_debug_level,
        get_logging_level,
        logging_level_to_debug_level,
        set_debug_level,
    )
    from compiler_gym.compat.managing import activate, deactivate, delete, require
    from compiler_gym.compat.searching import random_search
    from compiler_gym.compat.type_hints import ActionType, ObservationType, RewardType, StepType

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
