# SPDX-License-Identifier: MIT
"""LLVM's tasks for language models, which ``families`` generates.

``compiler_r1`` offers the two tools with which Compiler-R1 was trained.
"""

__all__: list[str] = []
