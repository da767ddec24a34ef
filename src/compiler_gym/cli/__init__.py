# SPDX-License-Identifier: MIT
"""The command ``compiler-gym``: one file per command; each parses, calls and prints.

Commands reach a compiler by the name of its environment and through the API that
every environment has. ``_app`` lists the commands, ``_failures`` turns errors into
one line and an exit status, ``_programs`` reads program
arguments, ``_interrupts`` handles Ctrl-C, ``_output`` prints, and ``_driver`` starts the
compiled driver. Nothing is imported before it is needed.
"""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and leave with its exit status."""
    words = sys.argv[1:]
    if words[:1] in (["cc"], ["cxx"]) and len(words) > 2:
        if words[1] == "--plan":
            from compiler_gym.cli._driver import become_driver

            become_driver(words)
        elif words[1] in ("--recipe", "--policy"):
            from compiler_gym.cli._policies import run_known_policy, run_known_recipe

            run = run_known_recipe if words[1] == "--recipe" else run_known_policy
            status = run(words[0], words[2], words[3:])
            if status is not None:
                sys.exit(status)
    from compiler_gym.cli._app import main as run_command

    run_command()
