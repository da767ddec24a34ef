# SPDX-License-Identifier: MIT
"""The command ``compiler-gym``: one file per command; each parses, calls and prints.

Commands reach a compiler through the name of its environment and the API of every environment.
``_app`` lists the commands, and ``kit`` has the parts that commands share, including those of
tools. Nothing is imported before it is needed.
"""

import gc
import sys

from compiler_gym.lazy import parts

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit with its status."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0].startswith("-"):
        from compiler_gym.cli._commands import answer

        if (status := answer(arguments)) is not None:
            sys.exit(status)
    # A build calls its compiler for each of its files: these calls must not load Typer.
    elif (early := parts("early_commands").get(arguments[0])) is not None:
        status = early.load()(arguments)
        if status is not None:
            sys.exit(status)
    gc.disable()  # until the command runs: everything that is loaded now stays
    from compiler_gym.cli._app import main as run_command

    run_command()
