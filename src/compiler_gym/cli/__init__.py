# SPDX-License-Identifier: MIT
"""The command ``compiler-gym``: one file per command; each parses, calls and prints.

Commands reach a compiler by the name of its environment and through the API that
every environment has. ``_app`` lists the commands, ``kit`` holds what commands share, those of
tools too. Nothing is imported before it is needed.
"""

import sys

from compiler_gym.lazy import parts

__all__ = ["main"]


def main() -> None:
    """Run the command line and leave with its exit status."""
    words = sys.argv[1:]
    # A build calls its compiler for each of its files: such a call need not load Typer.
    if words and (early := parts("early_commands").get(words[0])) is not None:
        status = early.load()(words)
        if status is not None:
            sys.exit(status)
    from compiler_gym.cli._app import main as run_command

    run_command()
