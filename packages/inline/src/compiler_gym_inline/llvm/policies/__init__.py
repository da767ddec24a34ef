# SPDX-License-Identifier: MIT
"""Policies that decide from the features of a call alone, as in a stock compiler.

``deciding`` defines such a policy, which works in an environment and for compilers over pipes
(``serving``); ``heuristics`` creates one from a C function or a shared object, which runs in the
sandbox; ``finding`` loads one by name.
"""

from compiler_gym_inline.llvm.policies.deciding import Decide, FeaturePolicy, llvms_own
from compiler_gym_inline.llvm.policies.finding import find_feature_policy
from compiler_gym_inline.llvm.policies.heuristics import (
    Heuristic,
    heuristic_policy,
    interface_text,
)

__all__ = [
    "Decide",
    "FeaturePolicy",
    "Heuristic",
    "find_feature_policy",
    "heuristic_policy",
    "interface_text",
    "llvms_own",
]
