# SPDX-License-Identifier: MIT
"""``python -m compiler_gym.bin.NAME`` of CompilerGym 0.2.5, as today's command.

The equivalent command is printed and run. If an option has no equivalent, it is reported and
nothing is run.
"""

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from compiler_gym.cli import main
from compiler_gym.registration import default_environment

_USAGE = 2
"""The exit status after an option without an equivalent."""


@dataclass(frozen=True, slots=True)
class _Command:
    """The equivalent of an old command."""

    words: tuple[str, ...]
    options: Mapping[str, str]
    """The new option for each old one; a name without dashes is an argument."""
    needs: str = ""
    """The default of a required argument."""
    dropped: frozenset[str] = field(default_factory=frozenset[str])
    """Old options that have no effect today."""


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
        frozenset({"skip_done"}),  # a run folder continues where it was
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
    """Print the equivalent of the old command `name` with its arguments, and run it."""
    words, unknown = todays_command(name, sys.argv[1:])
    command_line = shlex.join(["compiler-gym", *words])
    if unknown:
        lacking = ", ".join(unknown)
        sys.stderr.write(f"compiler_gym.bin.{name} is now {command_line}, which has no {lacking}\n")
        sys.exit(_USAGE)
    sys.stderr.write(f"compiler_gym.bin.{name} is now: {command_line}\n")
    sys.stderr.flush()
    sys.argv = ["compiler-gym", *words]
    main()


def todays_command(name: str, given: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the arguments of today's command, and the old options without an equivalent.

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
        new_option = command.options.get(option)
        if not option:
            arguments.append(value)
        elif new_option is None:
            unknown.append(f"--{option}")
        elif new_option.startswith("--"):
            options += [new_option, value]
        else:
            arguments.append(value)
    if not arguments and command.needs:
        arguments.append(command.needs)
    return [*command.words, *options, *arguments], unknown


def _old_options(given: Sequence[str], command: _Command) -> Iterator[tuple[str, str]]:
    """Yield old options and their values; an argument is an option without a name."""
    arguments = iter(given)
    for argument in arguments:
        if not argument.startswith("-") or argument == "-":
            yield "", argument
            continue
        option, equals, value = argument.lstrip("-").partition("=")
        if option.removeprefix("no") in command.dropped or option in command.dropped:
            continue
        if not equals and option in command.options:
            value = next(arguments, "")
        yield option, value
