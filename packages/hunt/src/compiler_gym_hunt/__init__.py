# SPDX-License-Identifier: MIT
"""Find optimisations that a compiler misses in real code.

``llvm`` hunts with LLVM, and ``commands`` contains the command.
"""

from compiler_gym.lazy import door

__all__: list[str] = []

__getattr__ = door(__name__)
