# SPDX-License-Identifier: MIT
# Gymnasium types its spaces partially:
# pyright: reportUnknownVariableType=false
import copy
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces.utils import flatdim, flatten, flatten_space, unflatten
from gymnasium.vector.utils import batch_space

from compiler_gym.errors import InvalidActionError, UnknownNameError
from compiler_gym.spaces import ActionSpace, Box, NamedDiscrete


@pytest.fixture
def space() -> ActionSpace:
    return ActionSpace(NamedDiscrete(["a", "b", "c"], name="letters"))


def test_it_behaves_as_the_space_it_wraps(space: ActionSpace) -> None:
    assert space.name == "letters"
    assert space.contains(2)
    assert 3 not in space
    assert space.n == 3
    assert space["b"] == 1
    assert space.shape == ()
    assert space.dtype == np.int64
    assert space.sample(mask=np.array([0, 0, 1], dtype=np.int8)) == 2
    assert space.sample(probability=np.array([0.0, 1.0, 0.0])) == 1
    with pytest.raises(AttributeError, match="nonsense"):
        _ = space.nonsense


def test_the_wrapped_space_decides_how_actions_are_written(space: ActionSpace) -> None:
    assert space.to_string([0, 1]) == "a b"
    assert space.from_string("a b") == [0, 1]
    with pytest.raises(UnknownNameError, match="no action 'x'"):
        space.from_string("x")
    with pytest.raises(InvalidActionError, match="got 7"):
        space.to_string([7])


def test_gymnasiums_own_spaces_are_written_as_json() -> None:
    inner = gymnasium.spaces.Dict(
        {"a": gymnasium.spaces.Discrete(2), "b": gymnasium.spaces.Box(0, 1, (1,), np.float32)}
    )
    space = ActionSpace(inner)
    actions = [{"a": 1, "b": np.array([0.5], np.float32)}]
    assert space.to_string(actions) == '[{"a": 1, "b": [0.5]}]'
    assert space.from_string('[{"a": 1, "b": [0.5]}]') == actions
    assert space.name is None
    with pytest.raises(InvalidActionError, match="expected a member of Dict"):
        space.from_string('[{"a": 1}]')


def test_seeding_reaches_the_wrapped_space(space: ActionSpace) -> None:
    space.seed(5)
    first = [space.sample() for _ in range(10)]
    space.seed(5)
    assert [space.sample() for _ in range(10)] == first
    assert space.np_random is space.wrapped.np_random


def test_copies_are_equal_and_independent(space: ActionSpace) -> None:
    space.seed(5)
    for other in (copy.deepcopy(space), pickle.loads(pickle.dumps(space))):
        assert other == space
        assert other.wrapped is not space.wrapped
    assert space != ActionSpace(NamedDiscrete(["a"], name="letters"))
    assert space != space.wrapped
    assert repr(space) == "ActionSpace(NamedDiscrete([a, b, c]))"


def test_gymnasiums_functions_see_the_wrapped_space(space: ActionSpace) -> None:
    assert flatdim(space) == 3
    assert flatten_space(space) == flatten_space(space.wrapped)
    assert unflatten(space, flatten(space, 2)) == 2
    assert isinstance(batch_space(space, 2), gymnasium.spaces.MultiDiscrete)
    values = [{"x": 1}]
    box = ActionSpace(Box(0, 1, "x", (2,)))
    assert box.from_jsonable(box.to_jsonable([np.zeros(2, np.float32)]))[0].tolist() == [0, 0]
    assert values not in box
