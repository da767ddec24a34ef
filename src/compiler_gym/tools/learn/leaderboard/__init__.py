# SPDX-License-Identifier: MIT
"""Evaluate policies on fixed tasks, and verify submissions.

``task`` defines a leaderboard and its metrics, ``evaluation`` runs a policy on it within a limit,
``submission`` reads, writes, verifies and ranks results, and ``llvm_instcount`` is the leaderboard
of CompilerGym 0.2.5.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.tools.learn.leaderboard.evaluation import (
        Evaluation,
        LimitReached,
        Meter,
        Outcome,
        Policy,
        call_policy,
        evaluate,
    )
    from compiler_gym.tools.learn.leaderboard.llvm_instcount import eval_llvm_instcount_policy
    from compiler_gym.tools.learn.leaderboard.submission import (
        Submission,
        find_submissions,
        leaderboard_table,
        rank_submissions,
        read_submission,
        verify,
        write_submission,
        write_tables,
    )
    from compiler_gym.tools.learn.leaderboard.task import (
        TASKS,
        LeaderboardTask,
        Limit,
        ScoredCost,
        ScoreSummary,
        addresses,
        find_task,
        summarise,
        task_defaults,
    )
    from compiler_gym.tools.learn.policies import LevelPolicy, SearchPolicy, find_policy

__all__ = [
    "TASKS",
    "Evaluation",
    "LeaderboardTask",
    "LevelPolicy",
    "Limit",
    "LimitReached",
    "Meter",
    "Outcome",
    "Policy",
    "ScoreSummary",
    "ScoredCost",
    "SearchPolicy",
    "Submission",
    "addresses",
    "call_policy",
    "eval_llvm_instcount_policy",
    "evaluate",
    "find_policy",
    "find_submissions",
    "find_task",
    "leaderboard_table",
    "rank_submissions",
    "read_submission",
    "summarise",
    "task_defaults",
    "verify",
    "write_submission",
    "write_tables",
]

__getattr__ = door(__name__)
