# SPDX-License-Identifier: MIT
"""Entry point for evaluating inlining heuristics with LLVM.

Loaded from the entry-point group ``compiler_gym.heuristics``.
"""

from compiler_gym_inline.llvm.policies import heuristic_policy
from compiler_gym_inline.llvm.serving import serve

__all__ = ["SUFFIXES", "TASK", "heuristic_policy", "serve"]

SUFFIXES = (".c", ".so")
"""The suffixes of heuristic files."""
TASK = "llvm-inline-heuristic"
"""The leaderboard task for heuristics."""
