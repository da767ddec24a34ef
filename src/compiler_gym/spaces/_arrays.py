# SPDX-License-Identifier: MIT
"""Tests of array values that never raise, and that tell numbers from booleans."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["array_of"]

_KINDS = {"f": "fiu", "i": "iu", "u": "iu", "b": "b"}
"""For each kind of space, the kinds of number that a list of values may hold."""


def array_of(value: Any, dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """Return `value` as an array whose numbers suit `dtype`, or None.

    An array must already be safe to cast, which is Gymnasium's rule. A list is
    held to its kind only: integers do for floats, and nothing else mixes.
    """
    if isinstance(value, np.ndarray):
        is_number = dtype.kind == "b" or value.dtype.kind != "b"
        return value if is_number and np.can_cast(value.dtype, dtype) else None
    if not isinstance(value, (list, tuple, int, float, np.generic)):
        return None
    try:
        array = np.asarray(value)
    except (OverflowError, TypeError, ValueError):
        return None
    return array if array.size == 0 or array.dtype.kind in _KINDS[dtype.kind] else None
