# SPDX-License-Identifier: MIT
"""Commands that start the explorer."""

from compiler_gym.cli.kit.rows import Row, Topic

__all__ = ["COMMANDS"]

COMMANDS = {
    "explore": Row(
        "compiler_gym_explorer.commands.explore:explore",
        "Try actions on a program by hand, with undo.",
        topic=Topic.EXPLORE,
    ),
    "web": Row(
        "compiler_gym_explorer.commands.web:web",
        "Open the web explorer, which shows the effects of passes as diffs and graphs.",
        topic=Topic.EXPLORE,
    ),
}
"""The commands, by name."""
