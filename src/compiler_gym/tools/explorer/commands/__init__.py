# SPDX-License-Identifier: MIT
"""Commands that start the explorer."""

from compiler_gym.cli.kit.rows import Row

__all__ = ["COMMANDS"]

COMMANDS = {
    "explore": Row(
        "compiler_gym.tools.explorer.commands.explore:explore",
        "Try actions on a program by hand, with undo.",
    ),
    "web": Row(
        "compiler_gym.tools.explorer.commands.web:web",
        "Open the web explorer: a tree of what passes do, with diffs, graphs and search.",
    ),
}
"""The commands by name."""
