# SPDX-License-Identifier: MIT
"""The import path that CompilerGym 0.2.5 documents for its leaderboard.

The leaderboard belongs to LLVM and is loaded when a policy is evaluated.
"""

from collections.abc import Sequence

from compiler_gym.lazy import load_named
from compiler_gym.tools.learn.leaderboard.evaluation import Policy

__all__ = ["eval_llvm_instcount_policy"]

_WHERE = "compiler_gym.tools.learn.leaderboard.llvm.instcount:eval_llvm_instcount_policy"


def eval_llvm_instcount_policy(policy: Policy, argv: Sequence[str] | None = None) -> None:
    """Evaluate `policy` on every program, print the results and write them as states.

    `policy` takes an environment at the start of an episode and steps it to the state to be judged.
    Options come from the command line (or `argv`); see ``--help``.
    """
    load_named(_WHERE)(policy, argv)
