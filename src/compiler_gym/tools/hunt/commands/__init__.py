# SPDX-License-Identifier: MIT
"""The command that hunts."""

from compiler_gym.cli.kit.rows import Row

__all__ = ["COMMANDS"]

COMMANDS = {
    "hunt": Row(
        "compiler_gym.tools.hunt.commands.hunt:hunt",
        "Find what the compiler's own level misses in real code: reduced, proven and counted.",
    ),
}
"""The commands by name."""
