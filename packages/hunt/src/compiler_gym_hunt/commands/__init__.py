# SPDX-License-Identifier: MIT
"""The ``hunt`` command."""

from compiler_gym.cli.kit.rows import Row, Topic

__all__ = ["COMMANDS"]

COMMANDS = {
    "hunt": Row(
        "compiler_gym_hunt.commands.hunt:hunt",
        "Find optimisations that the compiler misses in real code, each reduced and checked.",
        topic=Topic.RESULTS,
    ),
}
"""The commands by name."""
