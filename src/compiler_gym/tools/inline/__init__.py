# SPDX-License-Identifier: MIT
"""Decide what stock compilers inline: an environment, and a server for their questions.

``llvm`` has both for LLVM, and heuristics for them. ``commands`` has the commands.
"""

from compiler_gym.lazy import door

__all__: list[str] = []

__getattr__ = door(__name__)
