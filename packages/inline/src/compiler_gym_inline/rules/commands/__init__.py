# SPDX-License-Identifier: MIT
"""Commands that search and judge rules of the linker."""

from compiler_gym.cli.kit.rows import Row, Topic

__all__ = ["COMMANDS"]

COMMANDS = {
    "search-rules": Row(
        "compiler_gym_inline.rules.commands.search_rules:search_rules",
        "Search for a rule that makes the linker save bytes.",
        topic=Topic.LEARN,
    ),
}
"""The commands by name."""
