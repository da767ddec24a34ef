# SPDX-License-Identifier: MIT
"""Compilers that are separate programs, and need no Python.

``declaration`` reads the TOML file that declares such a program, and finds these files;
``environment`` is the environment for all of them. ``interactive`` is the protocol in which a
decisions over pipes, and ``model_runner`` makes an environment from it.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door
from compiler_gym_foreign.declaration import Plugin, plugin_files, read_plugin

if TYPE_CHECKING:
    from compiler_gym_foreign.environment import ServiceEnv

__all__ = ["Plugin", "ServiceEnv", "plugin_files", "read_plugin"]

__getattr__ = door(__name__)
