# SPDX-License-Identifier: MIT
"""Names of CompilerGym 0.2.5 that stand for something else today, and nothing else.

It stands above everything and is loaded when one of its names is asked for, never before:
doors below hand these names on lazily. ``old_paths`` is the table of modules that moved,
``old_commands`` reads old command lines, ``connection_opts`` explains the options of the old
server, ``managing`` has functions on datasets that were old already, ``old_datasets`` says what
stands for a dataset that is gone, ``old_flags`` and ``old_helpers`` let old scripts start,
``searching`` and ``debug`` have functions of the package,
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
