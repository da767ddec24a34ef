# SPDX-License-Identifier: MIT
import gymnasium
import numpy as np
import pytest

from compiler_gym.errors import InvalidActionError
from compiler_gym.spaces import Discrete, MultiBinary, MultiDiscrete


def test_the_range_may_start_anywhere() -> None:
    space = Discrete(3, name="x", start=-1)
    assert [value for value in range(-4, 5) if space.contains(value)] == [-1, 0, 1]
    assert not space.contains(np.uint64(2**64 - 1))
    assert space != Discrete(3, name="x")
    assert space == Discrete(3, name="x", start=-1)
    assert space != gymnasium.spaces.Discrete(3, start=-1)


def test_actions_of_a_discrete_space_are_written_as_numbers() -> None:
    space = Discrete(3, name="x")
    assert space.to_string([0, np.int64(2)]) == "[0, 2]"
    assert space.from_string("[0, 2]") == [0, 2]
    for text in ("[1.0]", "[true]", "[3]", '["1"]', "1"):
        with pytest.raises(InvalidActionError, match="expected"):
            space.from_string(text)
    with pytest.raises(InvalidActionError, match="got 3"):
        space.to_string([3])


def test_several_choices_are_integers_within_each_range() -> None:
    space = MultiDiscrete([2, 5], name="x")
    assert isinstance(space, gymnasium.spaces.MultiDiscrete)
    assert space.contains(np.array([1, 4]))
    assert space.contains([1, 4])
    for other in ([2, 0], [-1, 0], [0], [0.0, 1.0], [True, False], np.array([0.0, 1.0]), None, 1):
        assert not space.contains(other)


def test_switches_are_zero_or_one_and_do_not_wrap() -> None:
    space = MultiBinary(2, name="x")
    assert isinstance(space, gymnasium.spaces.MultiBinary)
    assert space.contains(np.array([1, 0], dtype=np.int8))
    assert space.contains([1, 0])
    for other in ([256, 0], [2, 0], [1], [0.0, 1.0], np.array([256, 1]), None):
        assert not space.contains(other)


def test_masks_work_as_in_gymnasium() -> None:
    space = MultiDiscrete([2, 3], name="x")
    mask = (np.array([0, 1], np.int8), np.array([0, 0, 1], np.int8))
    assert space.sample(mask=mask).tolist() == [1, 2]
