# SPDX-License-Identifier: MIT
"""The list of commands, and the entry point of the program.

A command is a row: its module is loaded when it is called, and help is printed
without it. Help is plain text: Typer's panels are slow to load and treat text in
brackets as markup.
"""

import sys
from collections.abc import Iterator, Mapping, MutableMapping
from functools import cache
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from compiler_gym.cli.kit.interrupts import exit_when_terminated, leaving_with_the_reader
from compiler_gym.cli.kit.rows import HELP, Row, Topic, tool_commands
from compiler_gym.lazy import missing_parts
from compiler_gym.version import REINSTALL

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


class _OnUse(MutableMapping[str, Any]):
    """The commands by name, each made when it is used."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = commands()[name].load(name)
        return self._made[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(commands())

    def __len__(self) -> int:
        return len(commands())


class _Commands(TyperGroup):
    """The group of all commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _OnUse()

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands by topic, without loading them."""
        for topic in Topic:
            rows = [(name, row.help) for name, row in commands().items() if row.topic is topic]
            if rows:
                with formatter.section(topic.value):
                    formatter.write_dl(rows)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; for an unknown one, name the packages that are missing."""
        try:
            return super().resolve_command(ctx, args)
        except Exception as error:
            packages = " or ".join(missing_parts("commands").values())
            if packages and hasattr(error, "message"):
                error.message += f" It may be in {packages}: {REINSTALL}"  # type: ignore[attr-defined]
            raise

    def make_context(self, *args: Any, **settings: Any) -> Any:
        """Parse the command line, and print help if requested."""
        with leaving_with_the_reader():
            return super().make_context(*args, **settings)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with leaving_with_the_reader():
            return super().invoke(ctx)


app = typer.Typer(
    name="compiler-gym",
    cls=_Commands,
    help="Optimise programs with a compiler, one action at a time.",
    epilog="A program is a URI (cbench-v1/qsort), a path (sum.c) or - for standard input.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def compiler_gym(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Print the version and exit.")
    ] = False,
) -> None:
    """Optimise programs with a compiler, one action at a time."""
    if version:
        from compiler_gym.version import __version__

        typer.echo(f"compiler-gym {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


def main() -> None:
    """Run the command line and exit with its status; print each error on one line."""
    exit_when_terminated()
    try:
        app(standalone_mode=True, prog_name="compiler-gym")
    except SystemExit:
        raise
    except BaseException as error:
        from compiler_gym.cli.kit.failures import report_failure

        status = report_failure(error)
        if status is None:
            raise
        sys.exit(status)
