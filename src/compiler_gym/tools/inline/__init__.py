# SPDX-License-Identifier: MIT
"""Deciding what stock compilers inline: an environment, and a server for their questions."""

from compiler_gym.lazy import door

__all__: list[str] = []

__getattr__ = door(__name__, {})
