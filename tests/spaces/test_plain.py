# SPDX-License-Identifier: MIT
# Gymnasium types its spaces partially:
# pyright: reportUnknownArgumentType=false
"""Values become plain Python, and what was written as JSON comes back as itself."""

import json
from typing import Any

import gymnasium
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from compiler_gym.errors import InvalidActionError
from compiler_gym.spaces import to_plain
from compiler_gym.spaces._plain import actions_from_json, actions_to_json, value_from_json

Discrete, GymDict, GymTuple = (
    gymnasium.spaces.Discrete,
    gymnasium.spaces.Dict,
    gymnasium.spaces.Tuple,
)
SPACES: list[gymnasium.Space[Any]] = [
    Discrete(5, start=-2),
    gymnasium.spaces.MultiDiscrete([3, 4]),
    gymnasium.spaces.MultiBinary(3),
    gymnasium.spaces.Box(-1, 1, (2, 2)),
    gymnasium.spaces.Text(5),
    GymDict({"a": Discrete(3), "b": GymTuple([Discrete(2), Discrete(9)])}),
    gymnasium.spaces.Sequence(GymDict({"n": Discrete(4)})),
    gymnasium.spaces.Sequence(Discrete(4), stack=True),
]


@pytest.mark.parametrize("space", SPACES, ids=lambda space: type(space).__name__)
def test_actions_survive_json(space: gymnasium.Space[Any]) -> None:
    space.seed(3)
    actions = [space.sample() for _ in range(10)]
    text = actions_to_json(space, actions)
    again = actions_from_json(space, text)
    assert to_plain(again) == json.loads(text)
    assert all(action in space for action in again)


@given(nps.arrays("float64", nps.array_shapes(max_dims=2, max_side=3), elements=st.floats(-9, 9)))
def test_arrays_become_lists_of_the_same_numbers(array: Any) -> None:
    plain = to_plain({"x": (array, array.reshape(-1)[0])})
    assert plain == {"x": [array.tolist(), array.reshape(-1)[0]]}
    assert type(plain["x"][1]) is float
    assert to_plain(plain) == plain


def test_plain_values_are_passed_on() -> None:
    value = object()
    assert to_plain(value) is value
    assert to_plain(b"bytes") == b"bytes"


@pytest.mark.parametrize("data", [True, 1.0, "1", None, [1]])
def test_a_number_of_an_action_is_a_whole_one(data: Any) -> None:
    with pytest.raises(ValueError, match="is not an integer"):
        value_from_json(Discrete(3), data)


@pytest.mark.parametrize(
    ("space", "text"),
    [
        (Discrete(3), "[3]"),
        (Discrete(3), "[true]"),
        (GymDict({"a": Discrete(3)}), '[{"b": 1}]'),
        (GymDict({"a": Discrete(3)}), "[1]"),
        (GymTuple([Discrete(3)]), "[[1, 1]]"),
        (gymnasium.spaces.MultiDiscrete([3]), "[[1e400]]"),
    ],
)
def test_json_that_holds_no_action_is_refused(space: gymnasium.Space[Any], text: str) -> None:
    with pytest.raises(InvalidActionError, match="expected a member of"):
        actions_from_json(space, text)


@pytest.mark.parametrize("text", ["", "1", "[", "{}", "null"])
def test_an_invalid_list_is_refused(text: str) -> None:
    with pytest.raises(InvalidActionError, match="expected a JSON list of actions"):
        actions_from_json(Discrete(3), text)


def test_a_value_without_a_json_form_is_named() -> None:
    class Anything(gymnasium.Space[Any]):
        def contains(self, x: Any) -> bool:
            return True

    assert actions_to_json(Anything(), [b"\xff"]) == '["\\u00ff"]'
    with pytest.raises(InvalidActionError, match="a complex has no JSON form"):
        actions_to_json(Anything(), [1j])
