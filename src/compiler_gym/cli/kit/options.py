# SPDX-License-Identifier: MIT
"""Makes the options of a command from the fields of a record.

A parameter whose type is a record becomes one option for each field that has a help text, and
the command is called with the record. Only what was given is set: the rest is the record's own.
"""

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import wraps
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperGroup

from compiler_gym.options import DeclaredOption, Limits, list_options

__all__ = [
    "CommandGroup",
    "CompilerName",
    "LimitOptions",
    "MemoryLimit",
    "Only",
    "SandboxName",
    "make_arguments",
    "spread",
]


@dataclass(frozen=True, slots=True)
class Only:
    """Which fields of a record a command offers."""

    names: Collection[str]


class CommandGroup(TyperGroup):
    """A group of commands whose help shows the first sentence of each whole."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write what each command does."""
        with formatter.section("Commands"):
            sentences = ((name, one.help or "") for name, one in self.commands.items())
            formatter.write_dl(
                [(name, " ".join(text.partition("\n\n")[0].split())) for name, text in sentences]
            )


LimitOptions = Limits | None
"""The limits of a worker: None where none is given."""
MemoryLimit = Annotated[Limits | None, Only(["memory_bytes"])]
CompilerName = Annotated[
    str | None,
    typer.Option("--compiler", help="Compiler to use [default: the only one that supports it]."),
]
SandboxName = Annotated[
    str | None,
    typer.Option(
        "--sandbox",
        help="Sandbox for running programs: namespaces, limits or none [default: the "
        "strongest available].",
    ),
]


@dataclass(frozen=True, slots=True)
class _Field:
    """An option of the command line, and the field that it sets."""

    name: str
    type: Any
    default: Any
    option: DeclaredOption

    @property
    def parameter(self) -> str:
        """What the command's function calls it."""
        return self.option.spelling.name or self.name

    @property
    def flag(self) -> str:
        """What it is called on the command line."""
        return self.option.flag(self.name)

    def make_parameter(self) -> inspect.Parameter:
        """Return the parameter that Typer makes an option of."""
        spelling = self.option.spelling
        kind = spelling.type or (self.type if spelling.unit == 1 else float)
        default = self.option.format_default(self.default)
        help = self.option.help + (f" [default: {default}]." if default else ".")
        return inspect.Parameter(
            self.parameter,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[
                kind | None,
                typer.Option(self.flag, help=help),
            ],
        )

    def read(self, value: Any) -> Any:
        """Return what the field gets; raise `InvalidParameterError` for another range."""
        spelling = self.option.spelling
        if spelling.read is not None:
            return spelling.read(value)
        if (range := spelling.range or self.option.range) is not None:
            range.check(self.flag, value)
        return value if spelling.unit == 1 else type(self.default)(value * spelling.unit)


def make_arguments(action_space: str | None, limits: Limits | None) -> dict[str, Any]:
    """Return the arguments of ``make`` for the options that were given."""
    options = {"action_space": action_space, "limits": limits}
    return {name: value for name, value in options.items() if value is not None}


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Return `command` with each of its records written as options."""
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    records: dict[str, tuple[Any, list[_Field]]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        record = _record_in(hints[name])
        if record is None:
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(parameter.replace(annotation=hints[name], kind=kind))
            continue
        own = _list_fields(record, hints[name], parameter.default)
        records[name] = (parameter.default or record, own)
        parameters += [one.make_parameter() for one in own]

    @wraps(command)
    def call_command(**given: Any) -> None:
        made = {name: _make_record(start, own, given) for name, (start, own) in records.items()}
        command(**given, **made)

    call_command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # read by Typer
    call_command.__annotations__ = {one.name: one.annotation for one in parameters}
    return call_command


def _make_record(start: Any, own: list[_Field], given: dict[str, Any]) -> Any:
    """Take the fields of the record out of `given` and return it, or None if it is left out."""
    values = {one: given.pop(one.parameter, None) for one in own}
    told = {one.name: one.read(value) for one, value in values.items() if value not in (None, [])}
    if isinstance(start, type):
        return start(**told) if told else None
    return replace(start, **told)


def _record_in(annotation: Any) -> type[Any] | None:
    """Return the record that a parameter is, if it is one, also where it may be None."""
    inner = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    for one in get_args(inner) or (inner,):
        if isinstance(one, type) and is_dataclass(one) and list_options(one):
            return one
    return None


def _list_fields(record: type[Any], annotation: Any, default: Any) -> list[_Field]:
    only = next((one.names for one in get_args(annotation) if isinstance(one, Only)), None)
    types = get_type_hints(record)
    options: Mapping[str, DeclaredOption] = list_options(record)
    return [
        _Field(
            one.name,
            _without_none(types[one.name]),
            getattr(default, one.name, one.default),
            options[one.name],
        )
        for one in fields(record)
        if one.name in options and options[one.name].help and (only is None or one.name in only)
    ]


def _without_none(annotation: Any) -> Any:
    return next((one for one in get_args(annotation) if one is not type(None)), annotation)
