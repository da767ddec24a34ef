# SPDX-License-Identifier: MIT
"""The list of commands, and the entry point of the program.

A command is a row: its module is loaded when it is called, and help is printed
without it. Help is plain text: Typer's panels are slow to load and treat text in
brackets as markup.
"""

import re
import sys
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from compiler_gym.cli._completing import complete_by_name
from compiler_gym.cli._interrupts import exit_when_terminated
from compiler_gym.cli._pipes import leaving_with_the_reader
from compiler_gym.lazy import named

__all__ = ["COMMANDS", "Row", "app", "main"]


@dataclass(frozen=True, slots=True)
class Row:
    """One command, or one group of them."""

    path: str
    """What it is, as ``"module:name"``."""
    help: str
    """The first sentence of its help; a test compares them."""
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    """How it is parsed, where that is unusual."""

    def load(self, name: str) -> Any:
        """Return the command."""
        found = named(f"compiler_gym.cli.{self.path}")
        if isinstance(found, typer.Typer):
            group = typer.Typer(rich_markup_mode=None, add_completion=False)
            group.add_typer(found)
            return _finish(typer.main.get_group(group).commands[name])
        lone = typer.Typer(rich_markup_mode=None, add_completion=False)
        lone.command(name, **_HELP | self.settings)(found)
        return _finish(typer.main.get_command(lone))


_TYPE = re.compile(r"<(?:list\[)?(\w+)(?: range)?\]?>")
"""A type as Typer writes it."""
_TYPE_NAMES = {"str": "TEXT"}
_HELP: dict[str, Any] = {"context_settings": {"help_option_names": ["-h", "--help"]}}
# An action may look like an option: -Oz is one.
_ACTIONS: dict[str, Any] = {
    "context_settings": {**_HELP["context_settings"], "ignore_unknown_options": True}
}
_VERBATIM: dict[str, Any] = {
    "add_help_option": False,
    "context_settings": {
        "ignore_unknown_options": True,
        "allow_extra_args": True,
        "allow_interspersed_args": False,
    },
}
COMMANDS = {
    "envs": Row("envs:envs", "List the environments."),
    "describe": Row(
        "describe:describe",
        "Show what an environment offers: actions, observations, rewards and datasets.",
    ),
    "search": Row(
        "search:search", "Look for the sequence of actions that earns most on each program."
    ),
    "tune": Row(
        "tune:tune",
        "Make the programs that a project builds smaller or faster: `tune -- make`.",
        {
            "options_metavar": "[OPTIONS] -- BUILD...",
            "context_settings": {
                **_HELP["context_settings"],
                "allow_extra_args": True,
                "allow_interspersed_args": False,
            },
        },
    ),
    "hunt": Row(
        "hunt:hunt",
        "Find what the compiler's own level misses in real code: reduced, proven and counted.",
    ),
    "recipe": Row(
        "recipe:recipe", "Show the recipes: decisions that need no search, as a compiler's flags."
    ),
    "collect": Row(
        "collect:collect",
        "Collect transitions into a folder of Parquet files, for learning without a compiler.",
    ),
    "replay": Row(
        "replay:replay", "Apply recorded states again and show what comes out differently."
    ),
    "validate": Row(
        "validate:validate",
        "Prove that recorded states replay and that the programs still do their job.",
    ),
    "bisect": Row(
        "bisect:bisect", "Find the first action after which two machines or versions disagree."
    ),
    "reduce": Row(
        "reduce:reduce",
        "Find the fewest actions that keep a reward, a failed validation or a crash.",
    ),
    "runs": Row("runs:runs", "List runs of searches, trainings and evaluations, and compare them."),
    "explore": Row("explore:explore", "Try actions on a program by hand, with undo."),
    "web": Row(
        "web:web", "Open the web explorer: a tree of what passes do, with diffs, graphs and search."
    ),
    "new": Row("new:new", "Write a package that makes another compiler an environment."),
    "conformance": Row(
        "conformance:conformance",
        "Check that a program keeps the session protocol: `conformance -- ./my-service`.",
    ),
    "sdk": Row(
        "conformance:sdk",
        "Print the folder of the C++ header, the schema of the messages and the transcripts.",
    ),
    "help": Row("version:show_help", "Show the help of a command."),
    "version": Row(
        "version:version", "Print the versions of this library, its compilers and what they run on."
    ),
    "doctor": Row(
        "doctor:doctor",
        "Check the programs outside this library: which are missing, and what installs them.",
    ),
    "run": Row("run:run", "Apply actions to a program and show what they did.", _ACTIONS),
    "profile": Row("profile:profile", "Show where the time of an episode goes.", _ACTIONS),
    "cc": Row(
        "cc:cc",
        'Run the compiler, and keep each compilation as a program: `make CC="compiler-gym cc"`.',
        _VERBATIM,
    ),
    "cxx": Row(
        "cc:cxx",
        'Run the C++ compiler, and keep what it compiles: `make CXX="compiler-gym cxx"`.',
        _VERBATIM,
    ),
    "serve-policy": Row(
        "serve_policy:serve_policy",
        "Let a policy decide in stock compilers: `serve-policy default -- make`.",
        {"context_settings": {**_HELP["context_settings"], "allow_extra_args": True}},
    ),
    "evaluate-heuristic": Row(
        "evaluate_heuristic:evaluate_heuristic",
        "Judge a decision function in C, or in a shared object, on many programs.",
    ),
    "policy": Row(
        "policy:policy",
        "Learn what makes the linked programs of a corpus small, and judge it on others.",
    ),
    "datasets": Row(
        "datasets:datasets",
        "List, install, remove, verify, import, build, export and sample sets of programs.",
    ),
    "leaderboard": Row(
        "leaderboard:leaderboard",
        "Evaluate policies on fixed tasks; verify and rank what was submitted.",
    ),
    "tasks": Row(
        "tasks:tasks",
        "List the tasks for language models, or write them with prompts as JSON lines.",
    ),
}


def _finish(command: Any) -> Any:
    """Return `command` with its types written as ``TEXT`` and with answers for the Tab key."""
    for each in getattr(command, "commands", {}).values():
        _finish(each)
    for parameter in command.params:
        parameter.display_type = partial(_display_type, parameter.display_type)
        complete_by_name(parameter)
    return command


def _display_type(display: Callable[..., str | None], ctx: Any) -> str | None:
    """Return the type of a parameter for its help: Typer writes ``<list[str]>``."""
    written = display(ctx)
    match = _TYPE.fullmatch(written or "")
    return _TYPE_NAMES.get(match[1], match[1].upper()) if match else written and written.strip("<>")


class _OnUse(MutableMapping[str, Any]):
    """The commands by name, each made when it is asked for."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = COMMANDS[name].load(name)
        return self._made[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _Commands(TyperGroup):
    """The group of them all."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _OnUse()

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write what each does, without loading it."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, row.help) for name, row in COMMANDS.items()])

    def make_context(self, *args: Any, **settings: Any) -> Any:
        """Read the command line; this is where help is printed."""
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
    """Run the command line and leave with its exit status; errors are one line each."""
    exit_when_terminated()
    try:
        app(standalone_mode=True, prog_name="compiler-gym")
    except SystemExit:
        raise
    except BaseException as error:
        from compiler_gym.cli._failures import exit_status_of

        status = exit_status_of(error)
        if status is None:
            raise
        sys.exit(status)
