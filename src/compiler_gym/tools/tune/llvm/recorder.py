# SPDX-License-Identifier: MIT
"""Records the programs that clang compiles; an entry point of ``compiler_gym.recorders``."""

from compiler_gym.envs.llvm.programs import record
from compiler_gym.envs.llvm.toolchain import name_package, tool_name

__all__ = ["COMMANDS", "CXX_COMMANDS", "INSTALL", "record"]

COMMANDS = (tool_name("clang"), "clang", "cc")
"""The commands that compile C, the preferred one first."""
CXX_COMMANDS = (tool_name("clang++"), "clang++", "c++")
"""The same for C++."""
INSTALL = f"apt install {name_package('clang')}"
"""The shell command that installs the preferred command."""
