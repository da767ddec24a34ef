# SPDX-License-Identifier: MIT
"""The tools: each is built on the public interface of the rest, which knows none of them."""

from compiler_gym.lazy import door

__all__: list[str] = []

__getattr__ = door(__name__, {})
