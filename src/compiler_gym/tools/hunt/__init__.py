# SPDX-License-Identifier: MIT
"""Finding what a compiler's own level misses in real code."""

from compiler_gym.lazy import door

__all__: list[str] = []

__getattr__ = door(__name__, {})
