# SPDX-License-Identifier: MIT
"""What compiles programs small at once, learnt from many programs and judged on others.

``linked`` are the linked programs of a corpus, ``plans`` what is tried of each, and ``outcomes``
what they weigh by it, measured once and kept. ``judging`` compares ways to compile on programs
that nobody learnt from, and ``training`` makes a policy of outcomes.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.tools.corpus.llvm.learning.judging import (
        RIVALS,
        Arm,
        Judgement,
        arm_named,
        by_plan,
        by_policy,
        judge,
        verdict_of,
    )
    from compiler_gym.tools.corpus.llvm.learning.linked import (
        CorpusChoice,
        CorpusProgram,
        open_corpus,
        programs_of,
    )
    from compiler_gym.tools.corpus.llvm.learning.outcomes import (
        OUTCOMES,
        Bench,
        Outcomes,
        PlanOutcome,
        measure,
        outcomes_of,
    )
    from compiler_gym.tools.corpus.llvm.learning.plans import FAIR, PLAIN, plan_key, plans_around
    from compiler_gym.tools.corpus.llvm.learning.training import Loss, Training, train
    from compiler_gym.tools.tune.llvm.policies import Policy, read_policy, write_policy

__all__ = [
    "FAIR",
    "OUTCOMES",
    "PLAIN",
    "RIVALS",
    "Arm",
    "Bench",
    "CorpusChoice",
    "CorpusProgram",
    "Judgement",
    "Loss",
    "Outcomes",
    "PlanOutcome",
    "Policy",
    "Training",
    "arm_named",
    "by_plan",
    "by_policy",
    "judge",
    "measure",
    "open_corpus",
    "outcomes_of",
    "plan_key",
    "plans_around",
    "programs_of",
    "read_policy",
    "train",
    "verdict_of",
    "write_policy",
]

_POLICIES = ("Policy", "read_policy", "write_policy")

__getattr__ = door(__name__)
