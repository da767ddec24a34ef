# SPDX-License-Identifier: MIT
"""``python -m compiler_gym.bin.NAME`` of CompilerGym 0.2.5, as today's command.

What can be said today is run, and shown first; an option that has no equivalent is named,
nothing is run then.
"""

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from compiler_gym.cli import main
from compiler_gym.registration import default_environment

__all__ = ["run", "todays_command"]

_USAGE = 2
"""The exit status of a command that was not understood."""


@dataclass(frozen=True, slots=True)
class _Command:
    """What an old command is today."""

    words: tuple[str, ...]
    options: Mapping[str, str]
    """The option of today by the name of the old one; a name without dashes is an argument."""
    needs: str = ""
    """The argument where none was given."""
    dropped: frozenset[str] = field(default_factory=frozenset[str])
    """Old options that make no difference today."""


_PROGRAM = "cbench-v1/qsort"
_COMMANDS = {
    "manual_env": _Command(
        ("explore",), {"benchmark": "program", "env": "--env", "reward": "--reward"}, _PROGRAM
    ),
    "random_eval": _Command(("search", "--algorithm", "random"), {}, "PROGRAM"),
    "random_replay": _Command(("replay",), {"env": "--env", "reward": "--reward"}, "STATES"),
    "random_search": _Command(
        ("search", "--algorithm", "random"),
        {
            "benchmark": "program",
            "env": "--env",
            "nproc": "--jobs",
            "output_dir": "--run",
            "reward": "--reward",
            "runtime": "--time",
        },
        _PROGRAM,
        frozenset({"skip_done"}),  # a run folder goes on from what it has
    ),
    "service": _Command(("describe",), {"env": "env"}, default_environment()),
    "validate": _Command(
        ("validate",),
        {"env": "--env", "nproc": "--jobs", "reward": "--reward", "validation_logfile": "--output"},
        "-",
        frozenset({"inorder"}),  # results keep the order of the states
    ),
}


def run(name: str) -> None:
    """Show today's command for the old command `name` and its arguments, and run it."""
    words, unknown = todays_command(name, sys.argv[1:])
    shown = shlex.join(["compiler-gym", *words])
    if unknown:
        lacking = ", ".join(unknown)
        sys.stderr.write(f"compiler_gym.bin.{name} is {shown} today, which has no {lacking}\n")
        sys.exit(_USAGE)
    sys.stderr.write(f"compiler_gym.bin.{name} is today: {shown}\n")
    sys.stderr.flush()
    sys.argv = ["compiler-gym", *words]
    main()


def todays_command(name: str, given: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words of today's command, and the old options that it has not.

    >>> todays_command("manual_env", ["--env=mine-v0", "--benchmark", "cbench-v1/sha"])
    (['explore', '--env', 'mine-v0', 'cbench-v1/sha'], [])
    >>> todays_command("random_search", ["--patience=9"])[1]
    ['--patience']
    """
    command = _COMMANDS[name]
    if "--ls_env" in given:
        return ["envs"], []
    if "--help" in given or "-h" in given:
        return [command.words[0], "--help"], []
    options: list[str] = []
    arguments: list[str] = []
    unknown: list[str] = []
    for option, value in _old_options(given, command):
        today = command.options.get(option)
        if not option:
            arguments.append(value)
        elif today is None:
            unknown.append(f"--{option}")
        elif today.startswith("--"):
            options += [today, value]
        else:
            arguments.append(value)
    if not arguments and command.needs:
        arguments.append(command.needs)
    return [*command.words, *options, *arguments], unknown


def _old_options(given: Sequence[str], command: _Command) -> Iterator[tuple[str, str]]:
    """Yield old options and their values; an argument is an option without a name."""
    words = iter(given)
    for word in words:
        if not word.startswith("-") or word == "-":
            yield "", word
            continue
        option, equals, value = word.lstrip("-").partition("=")
        if option.removeprefix("no") in command.dropped or option in command.dropped:
            continue
        if not equals and option in command.options:
            value = next(words, "")
        yield option, value
