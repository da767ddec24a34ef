# SPDX-License-Identifier: MIT
"""Commands that collect transitions and manage leaderboards."""

from compiler_gym.cli.kit.rows import Row, Topic

__all__ = ["COMMANDS"]

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
}
"""The commands by name."""
