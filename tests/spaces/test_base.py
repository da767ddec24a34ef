# SPDX-License-Identifier: MIT
# Gymnasium types its spaces partially:
# pyright: reportUnknownArgumentType=false
"""Names, plain values, JSON and copies of spaces."""

import copy
import json
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from compiler_gym.errors import InvalidActionError
from compiler_gym.spaces import (
    Box,
    Commandline,
    CommandlineFlag,
    CostReward,
    Discrete,
    NamedDiscrete,
    Scalar,
    to_plain,
)
from compiler_gym.spaces.base import (
    NamedSpace,
    actions_from_json,
    actions_to_json,
    refuse_masks,
    value_from_json,
)


class Even(NamedSpace):
    """Even numbers, a space of nothing but what `NamedSpace` gives."""

    def __init__(self, name: str) -> None:
        super().__init__((), int)
        self.name = name

    def contains(self, x: object) -> bool:
        return type(x) is int and x % 2 == 0

    def sample(self, mask: object = None, probability: object = None) -> int:
        refuse_masks(self, mask, probability)
        return 2


def test_class_and_name_make_equal_spaces() -> None:
    assert Discrete(2, "a") == Discrete(2, "a") != Discrete(3, "a")
    assert Discrete(2, "a") != Discrete(2, "b")
    assert Even("a") != Even("b")
    assert Discrete(2, "a") != NamedDiscrete(["x", "y"], name="a")
    assert Even("a") != "a"


def test_a_named_space_has_no_hash_as_those_of_gymnasium() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(Even("a"))


def test_actions_are_written_as_json_and_read_back() -> None:
    space = Even("even")
    assert space.from_string(space.to_string([2, 4])) == [2, 4]
    assert space.to_string([]) == "[]"
    with pytest.raises(InvalidActionError, match=r"expected a member of .*, got 3"):
        space.to_string([2, 3])
    with pytest.raises(InvalidActionError, match=r"expected a member of .*, got 3"):
        space.from_string("[2, 3]")
    with pytest.raises(InvalidActionError, match="expected a JSON list of actions"):
        space.from_string("{}")


@pytest.mark.parametrize("space", [Even("a"), Scalar("b", 0, 1, int), Box(0, 1, "c")])
def test_a_space_without_a_use_for_a_mask_refuses_one(space: gymnasium.Space[object]) -> None:
    with pytest.raises((gymnasium.error.Error, AssertionError, TypeError), match=r"mask|mask=1"):
        space.sample(mask=1)
    with pytest.raises(gymnasium.error.Error, match="supports neither masks nor probabilities"):
        refuse_masks(space, None, 0.5)


GymDiscrete, GymDict, GymTuple = (
    gymnasium.spaces.Discrete,
    gymnasium.spaces.Dict,
    gymnasium.spaces.Tuple,
)
SPACES: list[gymnasium.Space[Any]] = [
    GymDiscrete(5, start=-2),
    gymnasium.spaces.MultiDiscrete([3, 4]),
    gymnasium.spaces.MultiBinary(3),
    gymnasium.spaces.Box(-1, 1, (2, 2)),
    gymnasium.spaces.Text(5),
    GymDict({"a": GymDiscrete(3), "b": GymTuple([GymDiscrete(2), GymDiscrete(9)])}),
    gymnasium.spaces.Sequence(GymDict({"n": GymDiscrete(4)})),
    gymnasium.spaces.Sequence(GymDiscrete(4), stack=True),
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
        value_from_json(GymDiscrete(3), data)


@pytest.mark.parametrize(
    ("space", "text"),
    [
        (GymDiscrete(3), "[3]"),
        (GymDiscrete(3), "[true]"),
        (GymDict({"a": GymDiscrete(3)}), '[{"b": 1}]'),
        (GymDict({"a": GymDiscrete(3)}), "[1]"),
        (GymTuple([GymDiscrete(3)]), "[[1, 1]]"),
        (gymnasium.spaces.MultiDiscrete([3]), "[[1e400]]"),
    ],
)
def test_json_that_holds_no_action_is_refused(space: gymnasium.Space[Any], text: str) -> None:
    with pytest.raises(InvalidActionError, match="expected a member of"):
        actions_from_json(space, text)


@pytest.mark.parametrize("text", ["", "1", "[", "{}", "null"])
def test_an_invalid_list_is_refused(text: str) -> None:
    with pytest.raises(InvalidActionError, match="expected a JSON list of actions"):
        actions_from_json(GymDiscrete(3), text)


def test_a_value_without_a_json_form_is_named() -> None:
    class Anything(gymnasium.Space[Any]):
        def contains(self, x: Any) -> bool:
            return True

    assert actions_to_json(Anything(), [b"\xff"]) == '["\\u00ff"]'
    with pytest.raises(InvalidActionError, match="a complex has no JSON form"):
        actions_to_json(Anything(), [1j])


def flags(seed: int | None = None) -> Commandline:
    return Commandline(
        [CommandlineFlag(name, f"-{name}", "") for name in ("a", "b", "c", "d")], "flags", seed=seed
    )


def test_a_copy_samples_as_its_origin_would_and_by_itself() -> None:
    for space in (flags(seed=4), NamedDiscrete(["a", "b", "c", "d"], "names", seed=4)):
        twin, other = copy.deepcopy(space), copy.deepcopy(space)
        expected = [int(space.sample()) for _ in range(20)]
        assert [int(twin.sample()) for _ in range(20)] == expected
        assert [int(other.sample()) for _ in range(20)] == expected


def test_a_copy_shares_its_names_and_nothing_that_is_added() -> None:
    space = flags()
    space.sets = (0, 0, 1, 1)
    space.notes = {"a": [1]}  # type: ignore[attr-defined]  # a plug-in's own
    twin = copy.deepcopy(space)
    assert twin == space
    assert twin.names is space.names
    assert (twin.sets, twin.to_string([1, 2]), twin["c"]) == ((0, 0, 1, 1), "-b -c", 2)
    twin.notes["a"].append(2)  # type: ignore[attr-defined]  # as above
    assert space.notes == {"a": [1]}  # type: ignore[attr-defined]  # as above


def test_a_space_in_two_places_is_in_two_places_of_the_copy() -> None:
    space = flags(seed=1)
    built, in_use = copy.deepcopy(({"flags": space}, space))
    assert built["flags"] is in_use is not space


def test_a_reward_goes_on_with_its_own_numbers() -> None:
    reward = CostReward(
        "size", cost="count", initial="initial", platform_dependent=False, levels={"-O3": "o3"}
    )
    reward.start([np.int64(50)], {})
    twin = copy.deepcopy(reward)
    assert twin.update([], [40], {}) == 10.0
    assert reward.update([], [45], {}) == 5.0
    twin.levels["-Oz"] = "oz"
    twin.observation_spaces.append("more")
    assert (reward.levels, reward.observation_spaces) == ({"-O3": "o3"}, ["count"])
