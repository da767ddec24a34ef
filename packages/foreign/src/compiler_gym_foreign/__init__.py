# SPDX-License-Identifier: MIT
"""Compilers that are separate programs, and need no Python.

``declaration`` reads the TOML file that declares such a program, and finds these files;
``environment`` is the environment for all of them. ``interactive`` is the protocol in which LLVM
requests decisions over pipes, and ``model_runner`` makes an environment from it.
"""

from typing import TYPE_CHECKING

from compiler_gym.cli.kit.rows import Row, Topic
from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym_foreign.declaration import Plugin, plugin_files, read_plugin
    from compiler_gym_foreign.environment import ServiceEnv

__all__ = ["COMMANDS", "Plugin", "ServiceEnv", "plugin_files", "read_plugin"]

COMMANDS = {
    "conformance": Row(
        "compiler_gym_foreign.commands:conformance",
        "Check that a program follows the session protocol: `conformance -- ./my-service`.",
        topic=Topic.EXTEND,
    ),
    "sdk": Row(
        "compiler_gym_foreign.commands:sdk",
        "Print the folder with the C++ header, the message schema and sample transcripts.",
        topic=Topic.EXTEND,
    ),
}
"""The commands of this package; here, so that listing them loads nothing else."""

__getattr__ = door(__name__)
