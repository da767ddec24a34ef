# SPDX-License-Identifier: MIT
"""Boxes, and the arrays in them."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from compiler_gym.errors import InvalidActionError
from compiler_gym.spaces import Box, FreeBox, make_array

LARGEST = 2**63 - 1


def test_a_box_over_all_counts_can_be_sampled_and_holds_every_count() -> None:
    space = Box(0, LARGEST, name="counts", shape=(56,), dtype=np.int64, seed=0)
    samples = [space.sample() for _ in range(50)]
    assert all(sample.dtype == np.int64 and space.contains(sample) for sample in samples)
    assert max(sample.max() for sample in samples) > 2**62
    assert space.contains(np.full(56, LARGEST))
    assert not space.contains(np.full(56, -1))


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8, np.uint64])
def test_every_value_of_a_type_is_as_likely_as_another(dtype: type[np.integer[Any]]) -> None:
    limits = np.iinfo(dtype)
    space = Box(int(limits.min), int(limits.max), name="all", shape=(4000,), dtype=dtype, seed=1)
    values = space.sample().astype(np.float64)
    middle = (float(limits.min) + float(limits.max)) / 2
    assert abs(np.mean(values > middle) - 0.5) < 0.05


def test_a_small_range_is_reached_to_its_ends() -> None:
    space = Box(-1, 1, name="x", shape=(100,), dtype=np.int64, seed=0)
    assert set(space.sample().tolist()) == {-1, 0, 1}


def test_a_box_with_no_axes_samples_an_array() -> None:
    sample = Box(0, 3, name="x", shape=(), dtype=np.int64).sample()
    assert isinstance(sample, np.ndarray)
    assert sample.shape == ()


def test_fractions_booleans_and_other_shapes_are_not_members() -> None:
    space = Box(0, 9, name="x", shape=(2,), dtype=np.int64)
    assert space.contains(np.array([0, 9]))
    assert space.contains(np.array([0, 9], dtype=np.int8))
    assert space.contains([0, 9])
    for other in ([0.0, 1.0], [True, False], [0, 10], [1], [[1, 2]], "ab", None, 5):
        assert not space.contains(other), other
    assert not space.contains(np.array([True, False]))
    assert not space.contains(np.array([0.5, 1.0]))
    assert not space.contains(np.array([2**63, 1], dtype=np.uint64))


def test_floats_take_integers_in_lists_but_no_nan() -> None:
    space = Box(0.0, 1.0, name="x", shape=(2,))
    assert space.contains([0, 0.5])
    assert not space.contains([float("nan"), 0.5])
    assert not space.contains(np.array([0.0, 0.5]))  # float64 would be rounded


def test_equality_tells_large_bounds_apart() -> None:
    one = Box(0, LARGEST, name="x", shape=(1,), dtype=np.int64)
    assert one == Box(0, LARGEST, name="x", shape=(1,), dtype=np.int64)
    assert one != Box(0, LARGEST - 1, name="x", shape=(1,), dtype=np.int64)
    assert one != Box(0, LARGEST, name="y", shape=(1,), dtype=np.int64)
    assert one != Box(0, LARGEST, name="x", shape=(1,), dtype=np.uint64)
    assert one != gymnasium.spaces.Box(0, LARGEST, shape=(1,), dtype=np.int64)


def test_masks_are_refused_as_gymnasium_refuses_them() -> None:
    for space in (Box(0, 1, name="x"), FreeBox(0, 1, name="x")):
        with pytest.raises(gymnasium.error.Error, match="supports neither masks"):
            space.sample(mask=np.array([1]))  # type: ignore[arg-type]  # the mistake under test


def test_actions_are_written_as_json() -> None:
    space = Box(0, 9, name="x", shape=(2,), dtype=np.int8)
    assert space.to_string([np.array([1, 2], dtype=np.int8), [3, 4]]) == "[[1, 2], [3, 4]]"
    read = space.from_string("[[1, 2]]")
    assert read[0].dtype == np.int8
    assert read[0].tolist() == [1, 2]


@pytest.mark.parametrize("text", ["", "{", "3", '{"a": 1}', "[[1]]", "[[1, 10]]", "[[0.5, 1]]"])
def test_text_that_is_not_a_list_of_actions_is_refused(text: str) -> None:
    space = Box(0, 9, name="x", shape=(2,), dtype=np.int8)
    with pytest.raises(InvalidActionError, match=r"expected .*, got"):
        space.from_string(text)


def test_free_axes_have_any_length() -> None:
    space = FreeBox(-128, 127, name="bitcode", shape=(-1,), dtype=np.int8)
    assert space.contains(np.zeros(0, dtype=np.int8))
    assert space.contains(np.zeros(1000, dtype=np.int8))
    assert not space.contains(np.zeros((2, 2), dtype=np.int8))
    assert not space.contains(np.zeros(3, dtype=np.int64))
    rows = FreeBox(0.0, 1.0, name="rows", shape=(-1, 200), dtype=np.float32)
    assert rows.contains(np.zeros((7, 200), dtype=np.float32))
    assert not rows.contains(np.zeros((7, 100), dtype=np.float32))
    assert repr(rows) == "FreeBox(0.0, 1.0, (any, 200), float32)"


def test_free_boxes_need_a_free_axis() -> None:
    with pytest.raises(ValueError, match="an axis of -1"):
        FreeBox(0, 1, name="x", shape=(3,))
    with pytest.raises(ValueError, match="an axis of -1"):
        FreeBox(0, 1, name="x", shape=(-2, -1))


INT, UINT, FLOAT, BOOL = (np.dtype(name) for name in ("int64", "uint64", "float32", "bool"))


@pytest.mark.parametrize(
    ("value", "dtype", "axes"),
    [
        ([1, 2], INT, (-1,)),
        ([1, 2], INT, (2,)),
        ([[1, 2]], FLOAT, (-1, 2)),
        ([], FLOAT, (-1, 3)),
        ([0, 2**64 - 1], UINT, (2,)),
        ([2**63 - 1, 2**63], UINT, (2,)),
        ([True], BOOL, (1,)),
        (np.int8(3), INT, ()),
        (3, FLOAT, ()),
        (np.zeros(2, "int8"), INT, (2,)),
        (np.zeros(2, "bool"), BOOL, (2,)),
    ],
)
def test_matching_values_become_an_array_of_that_shape(
    value: Any, dtype: np.dtype[Any], axes: tuple[int, ...]
) -> None:
    found = make_array(value, dtype, axes)
    assert found is not None
    assert found.ndim == len(axes)
    assert np.array_equal(found.reshape(-1), np.asarray(value, dtype=found.dtype).reshape(-1))


@pytest.mark.parametrize(
    ("value", "dtype", "axes"),
    [
        ([1, 2], INT, (3,)),
        ([1, 2], INT, (1, 2)),
        ([0.5], INT, (1,)),
        ([True], INT, (1,)),
        ([1], BOOL, (1,)),
        ([[1], [1, 2]], INT, (2, -1)),
        ([2**70], INT, (1,)),
        ([0, 2.0**63], UINT, (2,)),
        (["1"], INT, (1,)),
        ("12", INT, (2,)),
        (b"12", INT, (2,)),
        ({0: 1}, INT, (1,)),
        (None, INT, ()),
        ([None], FLOAT, (1,)),
        (np.zeros(2, "int64"), np.dtype("int8"), (2,)),
        (np.zeros(2, "bool"), INT, (2,)),
    ],
)
def test_unmatching_values_become_none(
    value: Any, dtype: np.dtype[Any], axes: tuple[int, ...]
) -> None:
    assert make_array(value, dtype, axes) is None


@given(nps.arrays("int64", nps.array_shapes(max_dims=3, max_side=3)))
def test_an_array_and_its_lists_are_the_same(array: Any) -> None:
    for value in (array, array.tolist()):
        found = make_array(value, INT, array.shape)
        assert found is not None
        assert np.array_equal(found, array)
        assert make_array(value, INT, (-1,) * array.ndim) is not None
        assert make_array(value, INT, (*array.shape, 1)) is None


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=2)
    | st.binary(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.integers(), inner, max_size=2),
    max_leaves=5,
)


@given(ANYTHING, st.sampled_from([INT, UINT, FLOAT, BOOL]))
def test_nothing_raises(value: Any, dtype: np.dtype[Any]) -> None:
    found = make_array(value, dtype, (-1,))
    assert found is None or found.ndim == 1
