# SPDX-License-Identifier: MIT
"""Tools for language models: a name, a description and a JSON schema of parameters.

A tool is a method; its types and Google docstring define everything else. Arguments come from a
model, so they are parsed leniently if the meaning is clear; otherwise an error names the expected
type.
"""

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from compiler_gym.errors import InvalidParameterError, unknown_name

__all__ = ["Tool", "make_tool", "read_arguments"]

_MOST_LETTERS = 50_000
"""The maximum length of a call's arguments, in characters."""
_MOST_ITEMS = 1_000
_SCHEMAS: Mapping[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    Sequence[str]: {"type": "array", "items": {"type": "string"}},
    list[str]: {"type": "array", "items": {"type": "string"}},
}
_ARGUMENT = re.compile(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.M)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool that a model may call."""

    name: str
    description: str
    parameters: dict[str, Any]
    """The JSON schema of the arguments object."""


def make_tool(method: Callable[..., Any]) -> Tool:
    """Return the tool for `method`, from its signature and docstring."""
    docstring = inspect.getdoc(method) or ""
    summary, _, sections = docstring.partition("\nArgs:\n")
    descriptions = {name: " ".join(text.split()) for name, text in _ARGUMENT.findall(sections)}
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, parameter in inspect.signature(method).parameters.items():
        schema = {**_SCHEMAS[parameter.annotation], "description": descriptions[name]}
        if parameter.default is parameter.empty:
            required.append(name)
        else:
            is_list = schema["type"] == "array"
            schema["default"] = [] if is_list else parameter.default
        properties[name] = schema
    parameters = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    return Tool(method.__name__, " ".join(summary.split()), parameters)


def read_arguments(tool: Tool, given: object) -> dict[str, Any]:
    """Return a model's arguments as the method expects them.

    Args:
        tool: The tool that is called.
        given: An object, its JSON text, or None.

    Raises:
        InvalidParameterError: They are too long, not an object, of wrong types, or incomplete.
    """
    if isinstance(given, (str, bytes)):
        given = _read_json(given)
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise InvalidParameterError(
            f"arguments must be a JSON object (got {type(given).__name__}), such as "
            + json.dumps(dict.fromkeys(tool.parameters["required"], "..."))
        )
    table = cast("Mapping[Any, Any]", given)
    properties: dict[str, Any] = tool.parameters["properties"]
    for name in table:
        if name not in properties:
            message = unknown_name("argument", str(name)[:100], properties, where=tool.name)
            raise InvalidParameterError(
                message if properties else f"{tool.name} takes no arguments"
            )
    for name in tool.parameters["required"]:
        if name not in table:
            description = properties[name]["description"]
            raise InvalidParameterError(f"{tool.name} needs the argument {name!r}: {description}")
    return {name: _argument(name, properties[name], value) for name, value in table.items()}


def _read_json(text: str | bytes) -> Any:
    if len(text) > _MOST_LETTERS:
        raise InvalidParameterError(
            f"arguments must have at most {_MOST_LETTERS:,} characters (got {len(text):,})"
        )
    try:
        return json.loads(text) if text.strip() else None
    except (ValueError, RecursionError) as error:
        raise InvalidParameterError(
            f"arguments are not valid JSON ({str(error)[:200]}); pass an object"
        ) from None


def _argument(name: str, schema: Mapping[str, Any], value: Any) -> Any:
    kind = schema["type"]
    if kind == "string" and isinstance(value, str):
        return _truncate(name, value)
    if kind == "integer" and not isinstance(value, bool):
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, str) and re.fullmatch(r"-?\d{1,9}", value):
            value = int(value)
        if isinstance(value, int) and abs(value) < 1 << 31:
            return value
    if kind == "array":
        return _texts(name, value)
    raise InvalidParameterError(f"{name} must be {_NAMES[kind]} (got {_glimpse(value)})")


def _texts(name: str, value: Any) -> list[str]:
    """Return a list of strings from a list of any values, one string or a JSON list."""
    if isinstance(value, str):
        is_list = _truncate(name, value).lstrip().startswith("[")
        value = _read_json(value) if is_list else [value]
    if not isinstance(value, (list, tuple)):
        raise InvalidParameterError(f"{name} must be {_NAMES['array']} (got {_glimpse(value)})")
    items = cast("list[Any]", value)
    if len(items) > _MOST_ITEMS:
        raise InvalidParameterError(
            f"{name} must have at most {_MOST_ITEMS:,} items (got {len(items):,})"
        )
    letters, texts = 0, list[str]()
    for item in items:
        try:
            texts.append(item if isinstance(item, str) else json.dumps(item))
        except (TypeError, ValueError, RecursionError):
            raise InvalidParameterError(
                f"the items of {name} must be strings (got {_glimpse(item)})"
            ) from None
        letters += len(texts[-1])
        if letters > _MOST_LETTERS:
            raise InvalidParameterError(f"{name} must have at most {_MOST_LETTERS:,} characters")
    return texts


def _truncate(name: str, value: str) -> str:
    if len(value) > _MOST_LETTERS:
        raise InvalidParameterError(
            f"{name} must have at most {_MOST_LETTERS:,} characters (got {len(value):,})"
        )
    return value


def _glimpse(value: Any) -> str:
    """Return the type of a value and its beginning, without formatting all of it."""
    text = value[:80] if isinstance(value, (str, bytes)) else ""
    if isinstance(value, (int, float)) and abs(value) < 1 << 63:
        text = value
    return f"{type(value).__name__} {text!r}" if text != "" else type(value).__name__


_NAMES = {
    "string": "a string",
    "integer": "an integer",
    "array": "a list of strings",
}
