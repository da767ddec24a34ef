# SPDX-License-Identifier: MIT
"""Make inlining decisions: in an environment, or as a server for stock compilers.

``llvm`` implements both for LLVM, together with heuristics; ``commands`` contains the commands.
"""

from compiler_gym.lazy import door

__all__: list[str] = []

__getattr__ = door(__name__)
