# SPDX-License-Identifier: MIT
"""The command ``compiler-gym``: one file per command; each parses, calls and prints.

Commands reach a compiler by the name of its environment and through the API that
every environment has. ``_app`` lists the commands, ``_failures`` turns errors into
one line and an exit status, ``_programs`` reads program
arguments, ``_interrupts`` handles Ctrl-C, and ``_output``
prints. Nothing is imported before it is needed.
"""

__all__ = ["main"]


def main() -> None:
    """Run the command line and leave with its exit status."""
    from compiler_gym.cli._app import main as run

    run()
