# SPDX-License-Identifier: MIT
"""The list of commands, and the answers of the program that need no command, nor Typer.

A command is a row: its module is loaded when it is called. Help is plain text: Typer's panels are
slow to load and treat text in brackets as markup.
"""

import os
import shutil
import textwrap
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from compiler_gym.cli.kit.interrupts import leaving_with_the_reader
from compiler_gym.cli.kit.rows import HELP, Row, Topic, tool_commands
from compiler_gym.version import __version__

__all__ = ["ABOUT", "answer", "commands", "program_help"]

ABOUT = "Optimise programs with a compiler, one action at a time."
_EPILOG = "A program is a URI (cbench-v1/qsort), a path (sum.c) or - for standard input."
_WIDEST = 80
_OPTIONS = {
    "-V, --version": "Print the version and exit.",
    "--install-completion": "Install completion for the current shell.",
    "--show-completion": "Show completion for the current shell, to copy it or customize the "
    "installation.",
    "-h, --help": "Show this message and exit.",
}
# An action may look like an option: -Oz is one.
_ACTIONS: dict[str, Any] = {"context_settings": {**HELP, "ignore_unknown_options": True}}
_COMMANDS = {
    "envs": Row("compiler_gym.cli.envs:envs", "List the environments.", topic=Topic.EXPLORE),
    "describe": Row(
        "compiler_gym.cli.describe:describe",
        "Show the actions, observations, rewards and datasets of an environment.",
        topic=Topic.EXPLORE,
    ),
    "search": Row(
        "compiler_gym.cli.search:search",
        "Search for the sequence of actions with the highest reward on each program.",
        topic=Topic.BUILDS,
    ),
    "replay": Row(
        "compiler_gym.cli.replay:replay",
        "Replay recorded states and show any differences.",
        topic=Topic.RESULTS,
    ),
    "validate": Row(
        "compiler_gym.cli.validate:validate",
        "Check that recorded states replay and that their programs still work.",
        topic=Topic.RESULTS,
    ),
    "bisect": Row(
        "compiler_gym.cli.bisect:bisect",
        "Find the first action after which two machines or versions differ.",
        topic=Topic.RESULTS,
    ),
    "reduce": Row(
        "compiler_gym.cli.reduce:reduce",
        "Find the fewest actions that preserve a reward, a failed validation or a crash.",
        topic=Topic.RESULTS,
    ),
    "runs": Row(
        "compiler_gym.cli.runs:runs",
        "List runs of searches, trainings and evaluations, and compare them.",
        topic=Topic.RESULTS,
    ),
    "new": Row(
        "compiler_gym.cli.new:new",
        "Create a package that turns another compiler into an environment.",
        topic=Topic.EXTEND,
    ),
    "help": Row(
        "compiler_gym.cli.version:show_help", "Show the help of a command.", topic=Topic.EXTEND
    ),
    "version": Row(
        "compiler_gym.cli.version:version",
        "Print the versions of this library, its compilers and the system.",
        topic=Topic.EXTEND,
    ),
    "doctor": Row(
        "compiler_gym.cli.doctor:doctor",
        "Check which external programs are missing, and show how to install them.",
        topic=Topic.EXTEND,
    ),
    "run": Row(
        "compiler_gym.cli.run:run",
        "Apply actions to a program and show their effect.",
        _ACTIONS,
        topic=Topic.EXPLORE,
    ),
    "profile": Row(
        "compiler_gym.cli.profile:profile",
        "Show where the time of an episode is spent.",
        _ACTIONS,
        topic=Topic.EXPLORE,
    ),
    "datasets": Row(
        "compiler_gym.cli.datasets:datasets",
        "List, install, remove, verify, import, build, export and sample datasets.",
        topic=Topic.LEARN,
    ),
}


@cache
def commands() -> Mapping[str, Row]:
    """Return every command by name: our own, which tools cannot replace, then those of tools."""
    tools = {name: row for name, row in tool_commands().items() if " " not in name}
    return _COMMANDS | {name: row for name, row in tools.items() if name not in _COMMANDS}


def answer(arguments: list[str]) -> int | None:
    """Print the version or the help and return the exit status; None if a command is needed."""
    if "_COMPILER_GYM_COMPLETE" in os.environ or len(arguments) > 1:
        return None
    if arguments and arguments[0] not in ("-V", "--version", "-h", "--help"):
        return None
    with leaving_with_the_reader():
        if arguments in (["-V"], ["--version"]):
            print(f"compiler-gym {__version__}")
        else:
            print(program_help())
    return 0 if arguments else 2


def program_help() -> str:
    """Return the help of the program: its options, and its commands by topic."""
    width = max(min(shutil.get_terminal_size().columns, _WIDEST) - 2, 20)
    sections = {"Options": list(_OPTIONS.items())}
    for topic in Topic:
        rows = [(name, row.help) for name, row in commands().items() if row.topic is topic]
        if rows:
            sections[topic.value] = rows
    return "\n\n".join(
        [
            "Usage: compiler-gym [OPTIONS] COMMAND [ARGS]...",
            _paragraph(ABOUT, width),
            *(f"{title}:\n{_list(rows, width)}" for title, rows in sections.items()),
            _paragraph(_EPILOG, width),
        ]
    )


def _paragraph(text: str, width: int) -> str:
    return textwrap.fill(text, width, initial_indent="  ", subsequent_indent="  ")


def _list(rows: Iterable[tuple[str, str]], width: int) -> str:
    rows = list(rows)
    column = max(len(name) for name, _ in rows) + 4
    lines: list[str] = []
    for name, text in rows:
        first, *others = textwrap.wrap(text, max(width - column, 10))
        lines += [f"  {name:{column - 2}}{first}", *(" " * column + other for other in others)]
    return "\n".join(lines)
