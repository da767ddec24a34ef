# SPDX-License-Identifier: MIT
"""Policies that see the features of a call and nothing else: what a stock compiler can ask.

``deciding`` is such a policy, which plays an episode as well as it answers a compiler over pipes
(``serving``); ``heuristics`` makes one of a function in C or of a shared object, which runs in the
sandbox; ``finding`` reads one by name.
"""

from compiler_gym.tools.inline.llvm.policies.deciding import Decide, FeaturePolicy, llvms_own
from compiler_gym.tools.inline.llvm.policies.finding import find_feature_policy
from compiler_gym.tools.inline.llvm.policies.heuristics import (
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
