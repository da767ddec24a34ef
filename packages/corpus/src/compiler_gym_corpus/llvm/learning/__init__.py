# SPDX-License-Identifier: MIT
"""Policies, which are plans for small code in one compilation, learnt from many programs.

``linked`` provides the linked programs of a corpus, ``plans`` the plans to try on each, and
``outcomes`` the measured sizes, which are cached. ``judging`` compares methods on held-out
programs, and ``training`` chooses a plan from outcomes.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym_corpus.llvm.learning.judging import (
        Judgement,
        arm_named,
        judge,
        judge_arm,
    )
    from compiler_gym_corpus.llvm.learning.linked import (
        CorpusChoice,
        list_programs,
        open_corpus,
    )
    from compiler_gym_corpus.llvm.learning.outcomes import (
        Bench,
        Outcomes,
        PlanOutcome,
        measure,
        measure_outcomes,
    )
    from compiler_gym_corpus.llvm.learning.plans import FAIR, PLAIN, plan_key, plans_around
    from compiler_gym_corpus.llvm.learning.training import train

__all__ = [
    "FAIR",
    "PLAIN",
    "Bench",
    "CorpusChoice",
    "Judgement",
    "Outcomes",
    "PlanOutcome",
    "arm_named",
    "judge",
    "judge_arm",
    "list_programs",
    "measure",
    "measure_outcomes",
    "open_corpus",
    "plan_key",
    "plans_around",
    "train",
]

__getattr__ = door(__name__)
