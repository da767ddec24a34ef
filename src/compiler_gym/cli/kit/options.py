# SPDX-License-Identifier: MIT
"""Makes the options of a command from the fields of a record.

A parameter whose type is a record becomes one option for each field with a help text, and the
command is called with the record. Only given options are set; others keep the record's values.
"""

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import StrEnum
from functools import wraps
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from compiler_gym.errors import InvalidParameterError
from compiler_gym.options import DeclaredOption, Limits, list_options

__all__ = [
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
    """The fields of a record that a command offers."""

    names: Collection[str]


LimitOptions = Limits | None
"""The limits of a worker; None if no option sets one."""
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
        """The name of the parameter of the command's function."""
        return self.option.spelling.name or self.name

    @property
    def flag(self) -> str:
        """The name on the command line."""
        return self.option.flag(self.name)

    def make_parameter(self) -> inspect.Parameter:
        """Return the parameter from which Typer makes the option."""
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
        """Return the value of the field; raise `InvalidParameterError` if it is out of range."""
        spelling = self.option.spelling
        if spelling.read is not None:
            return spelling.read(self.flag, value)
        if (range := spelling.range or self.option.range) is not None:
            range.check(self.flag, value)
        if spelling.type == list[str]:
            return tuple(value)
        if issubclass(self.type, StrEnum) and value not in list(self.type):
            names = ", ".join(self.type)
            raise InvalidParameterError(f"{self.flag} must be one of {names} (got {value})")
        return value if spelling.unit == 1 else type(self.default)(value * spelling.unit)


def make_arguments(action_space: str | None, limits: Limits | None) -> dict[str, Any]:
    """Return the arguments of ``make`` for the options that were given."""
    options = {"action_space": action_space, "limits": limits}
    return {name: value for name, value in options.items() if value is not None}


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Return `command` with options instead of its records."""
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    records: dict[str, tuple[Any, list[_Field]]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        record = _record_in(hints[name])
        if record is None:
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(parameter.replace(annotation=hints[name], kind=kind))
            continue
        options = _list_fields(record, hints[name], parameter.default)
        records[name] = (parameter.default or record, options)
        parameters += [item.make_parameter() for item in options]

    @wraps(command)
    def call_command(**values: Any) -> None:
        records_made = {n: _make_record(start, own, values) for n, (start, own) in records.items()}
        command(**values, **records_made)

    call_command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # read by Typer
    call_command.__annotations__ = {item.name: item.annotation for item in parameters}
    return call_command


def _make_record(start: Any, options: list[_Field], arguments: dict[str, Any]) -> Any:
    """Remove the fields of the record from `arguments` and return it, or None without any."""
    values = {item: arguments.pop(item.parameter, None) for item in options}
    changes = {f.name: f.read(value) for f, value in values.items() if value not in (None, [])}
    if isinstance(start, type):
        return start(**changes) if changes else None
    return replace(start, **changes)


def _record_in(annotation: Any) -> type[Any] | None:
    """Return the record type of a parameter, which may also allow None; otherwise None."""
    inner = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    for candidate in get_args(inner) or (inner,):
        if isinstance(candidate, type) and is_dataclass(candidate) and list_options(candidate):
            return candidate
    return None


def _list_fields(record: type[Any], annotation: Any, default: Any) -> list[_Field]:
    only = next((item.names for item in get_args(annotation) if isinstance(item, Only)), None)
    types = get_type_hints(record)
    options: Mapping[str, DeclaredOption] = list_options(record)
    return [
        _Field(
            item.name,
            _without_none(types[item.name]),
            getattr(default, item.name, item.default),
            options[item.name],
        )
        for item in fields(record)
        if item.name in options and options[item.name].help and (only is None or item.name in only)
    ]


def _without_none(annotation: Any) -> Any:
    return next(
        (candidate for candidate in get_args(annotation) if candidate is not type(None)), annotation
    )
