# SPDX-License-Identifier: MIT
"""Declares commands: a package lists its own in a table, and an entry point names the table.

A command's module and Typer are imported only when the command is called: tables are also read
for the help of all commands, and whenever a build calls its compiler.
"""

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache, partial
from types import MappingProxyType
from typing import Any

from compiler_gym.errors import CompilerGymWarning
from compiler_gym.lazy import load_named, parts

__all__ = ["GROUP", "HELP", "VERBATIM", "Row", "Topic", "tool_commands"]

GROUP = "commands"
"""The entry-point group, below ``compiler_gym.``: each entry maps command names to `Row`."""
HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
"""The context settings of every command."""
VERBATIM: dict[str, Any] = {
    "add_help_option": False,
    "context_settings": {
        "ignore_unknown_options": True,
        "allow_extra_args": True,
        "allow_interspersed_args": False,
    },
}
"""The settings of a command that passes its arguments on unchanged."""
_TYPE = re.compile(r"<(?:list\[)?(\w+)(?: range)?\]?>")
"""A type as Typer writes it."""
_TYPE_NAMES = {"str": "TEXT"}


class Topic(Enum):
    """The groups in which the help lists commands; the values are their titles."""

    BUILDS = "C and C++ programs"
    EXPLORE = "Explore"
    LEARN = "Learn"
    RESULTS = "Results"
    EXTEND = "Extend and troubleshoot"
    OTHER = "Other tools"


@dataclass(frozen=True, slots=True)
class Row:
    """One command, or one group of commands."""

    path: str
    """``"package.module:name"`` of the function, or of the `typer.Typer` of a group."""
    help: str
    """The first sentence of its help; a test compares them."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Keyword arguments for `typer.Typer.command`, if parsing is unusual."""
    completions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Values for the Tab key by the name of the option: ``"package.module:name"`` of an
    enumeration, of strings, or of a function that returns them."""

    topic: Topic = Topic.OTHER
    """The group in which the help lists the command."""

    def load(self, name: str) -> Any:
        """Return the command called `name`, including commands that tools add to a group."""
        import typer

        value = load_named(self.path)
        if not isinstance(value, typer.Typer):
            lone = typer.Typer(rich_markup_mode=None, add_completion=False)
            settings: dict[str, Any] = {"context_settings": HELP, **self.settings}
            lone.command(name, **settings)(value)
            return self._finish(typer.main.get_command(lone))
        group = typer.Typer(rich_markup_mode=None, add_completion=False)
        group.add_typer(value)
        command: Any = typer.main.get_group(group).commands[name]
        for full_name, row in tool_commands().items():
            group_name, _, own_name = full_name.partition(" ")
            if group_name == name and own_name:
                command.commands[own_name] = row.load(own_name)
        return self._finish(command)

    def _finish(self, command: Any) -> Any:
        """Return `command` with types written as ``TEXT`` and with Tab completions."""
        from compiler_gym.cli.kit.completing import complete_by_name

        for subcommand in getattr(command, "commands", {}).values():
            self._finish(subcommand)
        for parameter in command.params:
            if not isinstance(parameter.display_type, partial):
                parameter.display_type = partial(_display_type, parameter.display_type)
            complete_by_name(parameter, self.completions)
        return command


@cache
def tool_commands() -> Mapping[str, Row]:
    """Return the commands of installed tools by name; ``"GROUP NAME"`` adds one to a group.

    A table that cannot be loaded is skipped with a warning.
    """
    rows_by_name: dict[str, Row] = {}
    for entry in parts(GROUP).values():
        try:
            rows: Mapping[str, Row] = entry.load()
        except Exception as error:
            text = f"skipping the commands of {entry.value}: {type(error).__name__}: {error}"
            warnings.warn(text, CompilerGymWarning, stacklevel=2)
            continue
        rows_by_name = {**rows, **rows_by_name}
    return MappingProxyType(dict(sorted(rows_by_name.items())))


def _display_type(display: Callable[..., str | None], ctx: Any) -> str | None:
    """Return the type of a parameter for its help: Typer writes ``<list[str]>``."""
    text = display(ctx)
    match = _TYPE.fullmatch(text or "")
    return _TYPE_NAMES.get(match[1], match[1].upper()) if match else text and text.strip("<>")
