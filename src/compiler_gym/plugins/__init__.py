# SPDX-License-Identifier: MIT
"""Compilers that are programs of their own, and need no Python.

``declaration`` reads the TOML file that declares one, and finds such files; ``environment`` is the
environment over any of them. ``interactive`` is the protocol over pipes in which a compiler asks
for decisions, and ``model_runner`` makes an environment of such a compiler.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door
from compiler_gym.plugins.declaration import Plugin, plugin_files, read_plugin

if TYPE_CHECKING:
    from compiler_gym.plugins.environment import ServiceEnv

__all__ = ["Plugin", "ServiceEnv", "plugin_files", "read_plugin"]

__getattr__ = door(__name__)
