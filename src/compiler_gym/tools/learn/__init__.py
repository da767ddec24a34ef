# SPDX-License-Identifier: MIT
"""Learning: recorded transitions, leaderboards and the libraries that train agents."""

from compiler_gym.lazy import door

__all__: list[str] = []

__getattr__ = door(__name__, {})
