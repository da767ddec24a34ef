# SPDX-License-Identifier: MIT
"""Lengths of values that may have any length, or any length within bounds."""

from collections.abc import Sequence
from typing import Any, cast

import gymnasium
import numpy as np
from numpy.typing import NDArray

__all__ = ["check_range", "random_length"]


def check_range(size_range: tuple[int, int | None]) -> tuple[int, int | None]:
    """Return `size_range`, or raise ValueError if no length fits it."""
    shortest, longest = size_range
    if shortest < 0 or (longest is not None and longest < shortest):
        raise ValueError(f"expected 0 <= shortest <= longest, got {size_range}")
    return shortest, longest


def random_length(space: Any, mask: Any, probability: Any) -> int:
    """Return a length in ``space.size_range``: from the mask if there is one, else random.

    A mask, or a probability, is ``(lengths, anything)``, as in Gymnasium's Text and Sequence:
    one length, an array of lengths to draw from, or None.
    """
    if mask is not None and probability is not None:
        raise ValueError(f"use a mask or a probability, not both: {mask!r}, {probability!r}")
    shortest, longest = space.size_range
    lengths = _read_mask(mask if probability is None else probability)
    if lengths is None:
        length = shortest + int(space.np_random.geometric(0.25)) - 1
        return length if longest is None else min(length, longest)
    for length in lengths:
        if length < shortest or (longest is not None and length > longest):
            raise gymnasium.error.Error(f"expected a length in {space.size_range}, got {length}")
    return lengths[0] if len(lengths) == 1 else int(space.np_random.choice(lengths))


def _read_mask(mask: Any) -> list[int] | None:
    if mask is None:
        return None
    pair = cast("Sequence[Any]", mask) if isinstance(mask, (tuple, list)) else ()
    if len(pair) == 2:
        if pair[0] is None:
            return None
        lengths: NDArray[Any] = np.asarray(pair[0])
        if lengths.dtype.kind in "iu" and lengths.ndim <= 1 and lengths.size:
            return lengths.reshape(-1).tolist()
    raise gymnasium.error.Error(f"expected a mask of the form (length, mask), got {mask!r}")
