# SPDX-License-Identifier: MIT
"""Tools as language models know them: a name, a description and a JSON schema of parameters.

A tool is a method whose types and Google docstring say it all. Arguments come from a model: they
are read leniently where the meaning is clear, and refused with what is expected otherwise.
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
"""The longest arguments of one call, as text."""
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
    """The JSON schema of its arguments: an object."""


def make_tool(method: Callable[..., Any]) -> Tool:
    """Return the tool that `method` is, from its signature and its docstring."""
    text = inspect.getdoc(method) or ""
    summary, _, sections = text.partition("\nArgs:\n")
    about = {name: " ".join(words.split()) for name, words in _ARGUMENT.findall(sections)}
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, parameter in inspect.signature(method).parameters.items():
        schema = {**_SCHEMAS[parameter.annotation], "description": about[name]}
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
    """Return the arguments that a model gave, as the method takes them.

    Args:
        tool: The tool that is called.
        given: An object, its JSON, or nothing.

    Raises:
        InvalidParameterError: They are too long, no object, of other types, or one is missing.
    """
    if isinstance(given, (str, bytes)):
        given = _read_json(given)
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise InvalidParameterError(
            f"arguments are {type(given).__name__}: expected a JSON object such as "
            + json.dumps(dict.fromkeys(tool.parameters["required"], "..."))
        )
    table = cast("Mapping[Any, Any]", given)
    properties: dict[str, Any] = tool.parameters["properties"]
    for name in table:
        if name not in properties:
            known = unknown_name("argument", str(name)[:100], properties, where=tool.name)
            raise InvalidParameterError(known if properties else f"{tool.name} takes no arguments")
    for name in tool.parameters["required"]:
        if name not in table:
            what = properties[name]["description"]
            raise InvalidParameterError(f"{tool.name} needs {name!r}: expected {what}")
    return {name: _argument(name, properties[name], value) for name, value in table.items()}


def _read_json(text: str | bytes) -> Any:
    if len(text) > _MOST_LETTERS:
        raise InvalidParameterError(
            f"arguments of {len(text):,} characters: expected at most {_MOST_LETTERS:,}"
        )
    try:
        return json.loads(text) if text.strip() else None
    except (ValueError, RecursionError) as error:
        raise InvalidParameterError(
            f"arguments are no JSON ({str(error)[:200]}): expected an object"
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
    raise InvalidParameterError(f"{name} is {_glimpse(value)}: expected {_NAMES[kind]}")


def _texts(name: str, value: Any) -> list[str]:
    """Return a list of texts; of one text, its JSON, numbers and objects as well."""
    if isinstance(value, str):
        is_list = _truncate(name, value).lstrip().startswith("[")
        value = _read_json(value) if is_list else [value]
    if not isinstance(value, (list, tuple)):
        raise InvalidParameterError(f"{name} is {_glimpse(value)}: expected {_NAMES['array']}")
    items = cast("list[Any]", value)
    if len(items) > _MOST_ITEMS:
        raise InvalidParameterError(
            f"{name} has {len(items):,} items: expected at most {_MOST_ITEMS:,}"
        )
    letters, texts = 0, list[str]()
    for item in items:
        try:
            texts.append(item if isinstance(item, str) else json.dumps(item))
        except (TypeError, ValueError, RecursionError):
            raise InvalidParameterError(
                f"{name} has {_glimpse(item)} in it: expected texts"
            ) from None
        letters += len(texts[-1])
        if letters > _MOST_LETTERS:
            raise InvalidParameterError(
                f"{name} has more than {_MOST_LETTERS:,} characters: expected fewer"
            )
    return texts


def _truncate(name: str, value: str) -> str:
    if len(value) > _MOST_LETTERS:
        raise InvalidParameterError(
            f"{name} has {len(value):,} characters: expected at most {_MOST_LETTERS:,}"
        )
    return value


def _glimpse(value: Any) -> str:
    """Return the beginning of a value and its type, without writing all of it."""
    text = value[:80] if isinstance(value, (str, bytes)) else ""
    if isinstance(value, (int, float)) and abs(value) < 1 << 63:
        text = value
    return f"{type(value).__name__} {text!r}" if text != "" else f"a {type(value).__name__}"


_NAMES = {
    "string": "text",
    "integer": "a whole number",
    "array": "a list of texts",
}
