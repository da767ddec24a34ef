# SPDX-License-Identifier: MIT
"""The command that shows where the bytes of a program are."""

from compiler_gym.cli.kit.rows import Row, Topic

__all__ = ["COMMANDS"]

COMMANDS = {
    "size": Row(
        "compiler_gym.tools.sizes.commands.size:size",
        "Show where the bytes of a program are, and what would make it smaller.",
        completions={"--by": "compiler_gym.tools.sizes:Grouping"},
        topic=Topic.BUILDS,
    ),
}
"""The commands by name."""
