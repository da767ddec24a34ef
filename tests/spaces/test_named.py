# SPDX-License-Identifier: MIT
"""A named space is equal to one of its class and name, and writes actions as JSON."""

import gymnasium
import pytest

from compiler_gym.errors import InvalidActionError
from compiler_gym.spaces import Box, Discrete, NamedDiscrete, Scalar
from compiler_gym.spaces._named import NamedSpace, refuse_masks


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
