# SPDX-License-Identifier: MIT
"""The passes that tails consist of."""

from compiler_gym.envs.llvm.actions import ACTION_SPACES
from compiler_gym.session import CommandlineSpec

__all__ = ["PASSES", "PROBES"]

_LATE_CFG = (
    "simplifycfg<bonus-inst-threshold=1;forward-switch-cond;switch-range-to-icmp;"
    "switch-to-arithmetic;switch-to-lookup;no-keep-loops;hoist-common-insts;sink-common-insts>"
)
_SPACE = ACTION_SPACES[0].space
assert isinstance(_SPACE, CommandlineSpec)
PASSES: tuple[str, ...] = (
    *(item.flag for item in _SPACE.items if item.flag.startswith("function(")),
    f"function({_LATE_CFG})",
)
"""Pipelines of function passes: those of the default action space, and the late clean-up of
-O2."""

PROBES = (
    "function(early-cse<memssa>)",
    "function(gvn)",
    f"function({_LATE_CFG})",
    "function(load-store-vectorizer)",
    "function(jump-threading)",
    "function(instcombine<no-verify-fixpoint>)",
)
"""Cheap passes whose effect on a function a model may look at."""
