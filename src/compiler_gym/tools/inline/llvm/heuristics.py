# SPDX-License-Identifier: MIT
"""LLVM's part of judging heuristics: functions that decide about each call.

Loaded from the entry-point group ``compiler_gym.heuristics``.
"""

from compiler_gym.tools.inline.llvm.policies import heuristic_policy
from compiler_gym.tools.inline.llvm.serving import serve

__all__ = ["SUFFIXES", "TASK", "heuristic_policy", "serve"]

SUFFIXES = (".c", ".so")
"""The suffixes of the files of heuristics."""
TASK = "llvm-inline-heuristic"
"""The leaderboard task that judges them."""
