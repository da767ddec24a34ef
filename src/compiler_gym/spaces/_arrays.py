# SPDX-License-Identifier: MIT
"""Conversion to arrays that never raises, and distinguishes numbers from booleans."""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["make_array"]

_ACCEPTED_KINDS = {"f": "fiu", "i": "iu", "u": "iu", "b": "b"}
"""For each kind of space, the kinds of number that a list of values may contain."""


def make_array(value: Any, dtype: Any, axes: tuple[int, ...]) -> NDArray[Any] | None:
    """Return `value` as an array of shape `axes` whose numbers suit `dtype`, or None.

    An axis of -1 has any length. Arrays must be safe to cast, by Gymnasium's rule. Lists
    must have the right kind of number: integers are accepted as floats, and nothing else
    mixes.

    >>> make_array([[1, 2], [3, 4]], np.dtype("int8"), (-1, 2))
    array([[1, 2],
           [3, 4]])
    >>> make_array([0.5], np.dtype("int8"), (1,)) is None
    True
    """
    array = _read_numbers(value, dtype)
    if array is None:
        return None
    if array.size == 0 and array.ndim < len(axes):
        # An empty list does not determine the length of its rows.
        array = array.reshape(array.shape + tuple(max(axis, 0) for axis in axes[array.ndim :]))
    fits = array.ndim == len(axes) and all(
        expected in (-1, length) for expected, length in zip(axes, array.shape, strict=True)
    )
    return array if fits else None


def _read_numbers(value: Any, dtype: np.dtype[Any]) -> NDArray[Any] | None:
    if isinstance(value, np.ndarray):
        numbers = cast("NDArray[Any]", value)
        is_number = dtype.kind == "b" or numbers.dtype.kind != "b"
        return numbers if is_number and np.can_cast(numbers.dtype, dtype) else None
    if not isinstance(value, (list, tuple, int, float, np.generic)):
        return None
    try:
        array = np.asarray(value)
        if array.size == 0 or array.dtype.kind in _ACCEPTED_KINDS[dtype.kind]:
            return array
        return _read_unsigned(value) if dtype.kind == "u" and array.dtype.kind == "f" else None
    except (OverflowError, TypeError, ValueError):
        return None


def _read_unsigned(value: Any) -> NDArray[Any] | None:
    """Return integers on both sides of 2**63, which numpy reads as floats."""
    items = np.asarray(value, dtype=object)
    return items.astype(np.uint64) if all(type(item) is int for item in items.flat) else None
