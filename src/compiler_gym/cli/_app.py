# SPDX-License-Identifier: MIT
"""The group of all commands in Typer, and the entry point of what needs it."""

import sys
from collections.abc import Iterator, MutableMapping
from typing import Annotated, Any

import typer

from compiler_gym.cli._commands import ABOUT, answer, commands, program_help
from compiler_gym.cli.kit.groups import CommandGroup
from compiler_gym.cli.kit.interrupts import exit_when_terminated, leaving_with_the_reader
from compiler_gym.cli.kit.rows import HELP


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


class _Commands(CommandGroup):
    """The group of all commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _OnUse()

    def get_help(self, ctx: Any) -> str:
        """Return the help, which lists the commands by topic without loading them."""
        return program_help()

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
    help=ABOUT,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=HELP,
)


@app.callback(invoke_without_command=True)
def compiler_gym(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Print the version and exit.")
    ] = False,
) -> None:
    """Optimise programs with a compiler, one action at a time."""
    if version or context.invoked_subcommand is None:
        raise typer.Exit(answer(["--version"] if version else []) or 0)


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
