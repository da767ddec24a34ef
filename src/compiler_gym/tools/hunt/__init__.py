# SPDX-License-Identifier: MIT
"""Find what a compiler's own level misses in real code.

``llvm`` hunts with LLVM, and ``commands`` has the command.
"""

from compiler_gym.lazy import door

__all__: list[str] = []

__getattr__ = door(__name__)
