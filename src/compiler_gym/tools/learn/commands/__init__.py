# SPDX-License-Identifier: MIT
"""Commands that collect transitions and manage leaderboards."""

from compiler_gym.cli.kit.rows import Row

__all__ = ["COMMANDS"]

COMMANDS = {
    "collect": Row(
        "compiler_gym.tools.learn.commands.collect:collect",
        "Collect transitions into a folder of Parquet files, for learning without a compiler.",
    ),
    "leaderboard": Row(
        "compiler_gym.tools.learn.commands.leaderboard:leaderboard",
        "Evaluate policies on fixed tasks; verify and rank what was submitted.",
        completions={"task": "compiler_gym.tools.learn.leaderboard:TASKS"},
    ),
}
"""The commands by name."""
