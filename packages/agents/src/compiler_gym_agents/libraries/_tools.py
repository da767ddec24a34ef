# SPDX-License-Identifier: MIT
"""An episode's tools as Python functions, for libraries that read signatures and docstrings."""

import inspect
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

from compiler_gym.errors import EnvironmentNotSupported
from compiler_gym_agents import AgentEpisode, Tool, tasks

__all__ = ["all_tools", "list_tools", "tool_function"]

_TYPES = {"string": str, "integer": int, "array": list[str]}
_RESERVED = frozenset({"reset", "step", "state", "close"})
"""Names with another meaning in these libraries; ``undo`` can replace ``reset``."""


def list_tools(episode: AgentEpisode) -> list[Tool]:
    """Return the tools of an episode whose names are not reserved."""
    return [tool for tool in episode.tools if tool.name not in _RESERVED]


@cache
def all_tools() -> tuple[Tool, ...]:
    """Return the tools of all tasks, by starting an episode in each environment.

    Environments that this machine does not support are skipped.
    """
    by_name: dict[str, Tool] = {}
    for task in {task.env_id: task for task in tasks()}.values():
        with suppress(EnvironmentNotSupported), AgentEpisode(task) as episode:
            by_name |= {tool.name: tool for tool in list_tools(episode)}
    return tuple(by_name.values())


def tool_function(
    tool: Tool, call: Callable[[Any, str, dict[str, Any]], str]
) -> Callable[..., str]:
    """Return a method with the name and types of `tool`, and a Google docstring.

    Args:
        tool: The tool.
        call: Called with the object, the name of the tool and the arguments.
    """

    def method(self: Any, *values: Any, **keywords: Any) -> str:
        return call(self, tool.name, {**dict(zip(parameters, values, strict=False)), **keywords})

    schemas: dict[str, Any] = tool.parameters["properties"]
    parameters = {
        name: inspect.Parameter(
            name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=schema.get("default", inspect.Parameter.empty),
            annotation=_TYPES[schema["type"]],
        )
        for name, schema in schemas.items()
    }
    receiver = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    method.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [receiver, *parameters.values()], return_annotation=str
    )
    method.__annotations__ = {name: item.annotation for name, item in parameters.items()}
    method.__annotations__["return"] = str
    method.__name__ = method.__qualname__ = tool.name
    method.__doc__ = _docstring(tool.description, schemas)
    return method


def _docstring(description: str, schemas: dict[str, Any]) -> str:
    if not schemas:
        return description
    rows = [f"    {name}: {schema['description']}" for name, schema in schemas.items()]
    return "\n".join([description, "", "Args:", *rows])
