# SPDX-License-Identifier: MIT
"""Values are arrays of the right kind and shape, or none: nothing raises."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from compiler_gym.spaces import make_array

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
