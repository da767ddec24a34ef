# SPDX-License-Identifier: MIT
"""The command ``compiler-gym``: one file per command; each parses, calls and prints.

Commands reach a compiler by the name of its environment and through the API that
every environment has. ``_app`` lists the commands, ``kit`` holds what commands share, those of
tools too. Nothing is imported before it is needed.
"""

import sys

__all__ = ["main"]

_EARLY = ("cc", "cxx")
"""The commands that may be served early: a build calls them for each of its files."""


def main() -> None:
    """Run the command line and leave with its exit status."""
    words = sys.argv[1:]
    if words and (status := _serve_early(words)) is not None:
        sys.exit(status)
    from compiler_gym.cli._app import main as run_command

    run_command()


def _serve_early(words: list[str]) -> int | None:
    """Return the exit status of a call that a tool serves before the command line is parsed."""
    if words[0] not in _EARLY:
        return None
    from compiler_gym.cli.kit.rows import tool_commands
    from compiler_gym.lazy import named

    row = tool_commands().get(words[0])
    return named(row.early)(words) if row and row.early else None
