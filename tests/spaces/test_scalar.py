# SPDX-License-Identifier: MIT
# Gymnasium types its spaces partially:
# pyright: reportUnknownVariableType=false
import json
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces.utils import flatten_space
from gymnasium.vector.utils import batch_space

from compiler_gym.errors import InvalidActionError
from compiler_gym.spaces import Box, Permutation, Scalar, Sequence


def test_integers_take_integers_only() -> None:
    space = Scalar(name="x", min=0, max=9, dtype=int)
    for member in (0, 9, np.int8(3), np.uint64(3), np.array(3)):
        assert space.contains(member) is True, repr(member)
    for other in (-1, 10, 3.0, np.float64(3), True, np.True_, "3", None, [3], np.array([3])):
        assert space.contains(other) is False, repr(other)


def test_floats_take_floats_only_and_never_nan() -> None:
    space = Scalar(name="x", min=0.0, dtype=float)
    for member in (0.0, 1e300, float("inf"), np.float32(0.5), np.array(0.5)):
        assert space.contains(member) is True, repr(member)
    for other in (-0.5, 1, True, float("nan"), np.float64("nan"), None):
        assert space.contains(other) is False, repr(other)


def test_booleans_take_booleans_only() -> None:
    space = Scalar(name="x", dtype=bool)
    assert all(map(space.contains, (True, False, np.True_, np.array(True))))
    assert not any(map(space.contains, (0, 1, 1.0, None)))
    assert {bool(space.sample()) for _ in range(50)} == {True, False}


def test_an_open_bound_is_that_of_the_type() -> None:
    space = Scalar(name="x", min=0, dtype=np.uint8)
    assert space.contains(255)
    assert not space.contains(256)
    assert repr(space) == "Scalar(0, 255, uint8)"
    assert repr(Scalar(name="x")) == "Scalar(-inf, inf, float64)"


def test_bounded_samples_stay_within_their_bounds_and_reach_them() -> None:
    space = Scalar(name="x", min=-1, max=1, dtype=int, seed=0)
    assert {int(space.sample()) for _ in range(50)} == {-1, 0, 1}
    assert type(space.sample()) is int
    assert type(Scalar(name="x", min=-1, max=1, dtype=np.int64).sample()) is np.int64


def test_fractional_bounds_of_integers_are_those_of_the_integers_between() -> None:
    space = Scalar(name="x", min=0.5, max=3.5, dtype=int, seed=0)
    assert (space.min, space.max) == (1, 3)
    assert {int(space.sample()) for _ in range(50)} == {1, 2, 3}
    assert flatten_space(space) == Box(1, 3, "x", shape=(1,), dtype=np.int64)
    assert batch_space(space, 2) == Box(1, 3, "x", shape=(2,), dtype=np.int64)
    assert repr(Permutation("order", space)) == "Permutation(1, 3)"
    assert Scalar("x", -np.inf, np.inf, np.int8) == Scalar("x", dtype=np.int8)
    assert Scalar("x", 0.5, dtype=float).min == 0.5
    for arguments in ((0.2, 0.8, int), (255.5, None, np.uint8), (None, -0.5, np.uint8)):
        with pytest.raises(ValueError, match="expected bounds with an integer between"):
            Scalar("x", *arguments)


def test_bounds_and_kinds_are_checked() -> None:
    with pytest.raises(ValueError, match="expected min <= max, got 2 > 1"):
        Scalar(name="x", min=2, max=1)
    with pytest.raises(ValueError, match="dtype of integers, floats or booleans"):
        Scalar(name="x", dtype=str)
    with pytest.raises(gymnasium.error.Error, match="supports neither masks"):
        Scalar(name="x").sample(mask=1)  # type: ignore[arg-type]  # the mistake under test


def test_actions_are_written_as_json() -> None:
    space = Scalar(name="x", min=0.0, max=1.0)
    assert space.to_string([0.25, np.float64(1)]) == "[0.25, 1.0]"
    assert space.from_string("[0.25, 1]") == [0.25, 1.0]
    with pytest.raises(InvalidActionError, match=r"got 1\.5"):
        space.from_string("[1.5]")
    with pytest.raises(InvalidActionError, match="got True"):
        space.from_string("[true]")
    with pytest.raises(InvalidActionError, match=r"got 1\.5"):
        Scalar(name="x", dtype=int).from_string("[1.5]")


@pytest.mark.parametrize("dtype", [int, float, bool])
def test_samples_of_a_python_type_are_json(dtype: type) -> None:
    space = Scalar(name="x", min=0, max=1, dtype=dtype, seed=0)
    sample = space.sample()
    assert type(sample) is dtype
    assert json.loads(json.dumps(sample)) in space
    (read,) = pickle.loads(pickle.dumps(space)).from_jsonable(space.to_jsonable([sample]))
    assert type(read) is dtype
    several = Sequence("xs", (3, 3), dtype=dtype).sample()
    assert len(json.loads(json.dumps(several))) == 3
