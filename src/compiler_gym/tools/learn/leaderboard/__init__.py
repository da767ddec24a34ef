# SPDX-License-Identifier: MIT
"""Evaluate policies on fixed tasks, and verify submissions.

``task`` defines a leaderboard, ``evaluation`` runs a policy on it within the limits of
``metered``, ``metrics`` computes the scores, ``policies`` finds policies by name, ``submission``
reads, writes and verifies results, ``rerun`` reproduces their times, ``table`` prints them, and
``llvm_instcount`` is the leaderboard of CompilerGym 0.2.5.
"""

from compiler_gym.tools.learn.leaderboard.evaluation import (
    Evaluation,
    Outcome,
    Policy,
    call_policy,
    evaluate,
)
from compiler_gym.tools.learn.leaderboard.llvm_instcount import eval_llvm_instcount_policy
from compiler_gym.tools.learn.leaderboard.metered import LimitReached, Meter
from compiler_gym.tools.learn.leaderboard.metrics import (
    ScoredCost,
    ScoreInterval,
    ScoreSummary,
    geometric_interval,
    geometric_mean,
    summarise,
)
from compiler_gym.tools.learn.leaderboard.policies import LevelPolicy, SearchPolicy, find_policy
from compiler_gym.tools.learn.leaderboard.submission import (
    Submission,
    find_submissions,
    read_submission,
    verify,
    write_submission,
)
from compiler_gym.tools.learn.leaderboard.table import (
    leaderboard_table,
    rank_submissions,
    with_tables,
    write_tables,
)
from compiler_gym.tools.learn.leaderboard.task import (
    TASKS,
    LeaderboardTask,
    Limit,
    addresses,
    find_task,
    task_defaults,
)

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
    "ScoreInterval",
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
    "geometric_interval",
    "geometric_mean",
    "leaderboard_table",
    "rank_submissions",
    "read_submission",
    "summarise",
    "task_defaults",
    "verify",
    "with_tables",
    "write_submission",
    "write_tables",
]
