# SPDX-License-Identifier: MIT
"""The tasks for language models that LLVM brings: ``families`` makes them by rule.

``compiler_r1`` has the two tools that Compiler-R1 was trained with.
"""

__all__: list[str] = []
