# SPDX-License-Identifier: MIT
"""Tools are described by their methods, and what a model sends is read or refused."""

import json
from typing import Any

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym_agents.calling import Tool, make_tool, read_arguments


def mow(lawns: list[str], height: int = 3, why: str = "") -> str:
    """Mow lawns, in order.

    Args:
        lawns: Names of lawns,
            the first one first.
        height: Centimetres.
        why: The reason.
    """
    return f"{lawns} {height} {why}"


TOOL = make_tool(mow)


def test_a_method_says_all_that_a_tool_is() -> None:
    assert (
        Tool(
            "mow",
            "Mow lawns, in order.",
            {
                "type": "object",
                "properties": {
                    "lawns": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "Names of lawns, the first one first.",
                    },
                    "height": {"type": "integer", "description": "Centimetres.", "default": 3},
                    "why": {"type": "string", "description": "The reason.", "default": ""},
                },
                "required": ["lawns"],
                "additionalProperties": False,
            },
        )
        == TOOL
    )


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"lawns": ["a"]}, {"lawns": ["a"]}),
        ('{"lawns": ["a"], "height": "5"}', {"lawns": ["a"], "height": 5}),
        ({"lawns": "a", "height": 5.0}, {"lawns": ["a"], "height": 5}),
        ({"lawns": '["a", {"b": 1}, 2]'}, {"lawns": ["a", '{"b": 1}', "2"]}),
    ],
)
def test_near_misses_in_a_request_are_understood(given: Any, read: dict[str, Any]) -> None:
    assert read_arguments(TOOL, given) == read


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nonsense", "not valid JSON"),
        ("[" * 40_000, "not valid JSON"),
        ("x" * 10_000_000, "(got 10,000,000)"),
        (["a"], "must be a JSON object (got list)"),
        (None, "needs the argument 'lawns': Names of lawns"),
        ({"lawn": ["a"]}, "did you mean lawns"),
        ({"lawns": 7}, "lawns must be a list of strings (got int 7)"),
        ({"lawns": ["a"], "height": True}, "height must be an integer (got bool True)"),
        ({"lawns": ["a"], "height": 10**4000}, "height must be an integer"),
        ({"lawns": ["a"], "height": float("nan")}, "height must be an integer"),
        ({"lawns": ["a"], "why": ["x"]}, "why must be a string (got list)"),
        ({"lawns": ["a"], "why": "x" * 100_000}, "(got 100,000)"),
        ({"lawns": ["a"] * 2_000}, "at most 1,000 items (got 2,000)"),
        ({"lawns": ["x" * 40_000] * 2}, "at most 50,000 characters"),
        ({"lawns": [object()]}, "must be strings (got object)"),
        ({1: 2}, "no argument '1'"),
    ],
)
def test_nonsense_is_refused_with_the_expected_form(given: Any, said: str) -> None:
    with pytest.raises(InvalidParameterError) as refused:
        read_arguments(TOOL, given)
    assert said in str(refused.value)
    assert len(str(refused.value)) < 400


def test_a_tool_has_a_json_form() -> None:
    assert json.loads(json.dumps(TOOL.parameters)) == TOOL.parameters
