# SPDX-License-Identifier: MIT
"""The tasks for language models that LLVM brings: ``families`` makes them by rule."""

__all__: list[str] = []
