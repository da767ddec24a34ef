# SPDX-License-Identifier: MIT
"""Tools become methods that say what they take; names that libraries own are left out."""

import inspect
from typing import Any, get_type_hints

from compiler_gym_agents import Tool
from compiler_gym_agents.libraries._tools import all_tools, tool_function

LOOK = Tool(
    "look",
    "Look at something.",
    {
        "type": "object",
        "properties": {
            "names": {"type": "array", "items": {"type": "string"}, "description": "What."},
            "page": {"type": "integer", "description": "Which page.", "default": 1},
        },
        "required": ["names"],
    },
)


def test_a_tool_becomes_a_method_with_types_and_a_docstring() -> None:
    calls: list[Any] = []

    def see(*call: Any) -> str:
        calls.append(call)
        return "seen"

    class Holder:
        look = tool_function(LOOK, see)

    holder = Holder()
    assert holder.look(["a"], page=2) == "seen"
    assert holder.look(names=["b"]) == "seen"
    assert calls == [
        (holder, "look", {"names": ["a"], "page": 2}),
        (holder, "look", {"names": ["b"]}),
    ]
    assert str(inspect.signature(holder.look)) == "(names: list[str], page: int = 1) -> str"
    assert get_type_hints(holder.look) == {"names": list[str], "page": int, "return": str}
    assert inspect.getdoc(holder.look) == (
        "Look at something.\n\nArgs:\n    names: What.\n    page: Which page."
    )


def test_names_that_mean_something_else_to_libraries_are_left_out() -> None:
    names = {tool.name for tool in all_tools()}
    assert {"apply", "undo", "submit"} <= names
    assert not names & {"reset", "step", "state", "close"}
