# SPDX-License-Identifier: MIT
"""The group of all commands in Typer, and the entry point of what needs it."""

import gc
import sys
from collections.abc import Callable, Iterator, MutableMapping
from functools import partial, partialmethod
from typing import Annotated, Any, cast

import typer
from typer.core import TyperArgument, TyperOption

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
        gc.freeze()
        gc.enable()
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


class _LateCoercion:
    """Typer's conversion of a parameter's values, without Pydantic for those that need none."""

    def __init__(self, parameter: Any, typed: Callable[[Any], Any]) -> None:
        self._typed = partial(typed, parameter)

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        kind, rules = param.type_descriptor.annotation, param.type_descriptor.parameter_info
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if rules.parser is rules.min is rules.max is None:
            if kind in (str, int, float) and type(value) is kind:
                return value
            if kind == list[str] and isinstance(value, (list, tuple)):
                return list(cast("list[str]", value))
        return self._typed().coerce(value, param=param, ctx=ctx)


def load_pydantic_late() -> None:
    """Make Typer load Pydantic, which takes longer than Typer itself, only if a value needs it."""
    for kind in (TyperArgument, TyperOption):
        typed: Any = kind.get_runtime_param
        kind.get_runtime_param = partialmethod(_LateCoercion, typed)  # type: ignore[method-assign]  # the same, but later


def main() -> None:
    """Run the command line and exit with its status; print each error on one line."""
    exit_when_terminated()
    load_pydantic_late()
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
