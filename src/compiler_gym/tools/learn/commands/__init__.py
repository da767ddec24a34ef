# SPDX-License-Identifier: MIT
"""Commands that collect transitions and manage leaderboards."""

from typing import TYPE_CHECKING

from compiler_gym.cli.kit.rows import Row, Topic
from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.tools.learn.commands.leaderboard import print_outcome, show_metrics

__all__ = ["COMMANDS", "print_outcome", "show_metrics"]

COMMANDS = {
    "collect": Row(
        "compiler_gym.tools.learn.commands.collect:collect",
        "Collect transitions into a folder of Parquet files, for learning without a compiler.",
        topic=Topic.LEARN,
    ),
    "leaderboard": Row(
        "compiler_gym.tools.learn.commands.leaderboard:leaderboard",
        "Evaluate policies on fixed tasks; verify and rank submissions.",
        completions={"task": "compiler_gym.tools.learn.leaderboard:TASKS"},
        topic=Topic.RESULTS,
    ),
    "tails": Row(
        "compiler_gym.tools.learn.commands.tails:tails",
        "Choose passes for each function after -Oz with a model that learned from programs.",
        topic=Topic.LEARN,
    ),
}
"""The commands by name."""

__getattr__ = door(__name__)
