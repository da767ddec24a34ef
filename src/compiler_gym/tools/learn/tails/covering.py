# SPDX-License-Identifier: MIT
"""The choice of a few tails that cover many functions, and the savings of the first of them.

A saving is the number of instructions or bytes that a tail removes from a function; where it
removes none, the function keeps its base, so a saving is never below zero. Packages weigh the same.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Savings", "cover", "package_weights", "savings_by_count"]

Savings = NDArray[np.float64]
"""A row for each function, a column for each tail."""


def package_weights(
    packages: Sequence[str] | NDArray[np.str_], sizes: NDArray[np.int32]
) -> Savings:
    """Return the weight of a unit of size of each function, so that packages weigh the same.

    >>> package_weights(["a", "b", "b"], np.array([10, 30, 10], np.int32))
    array([0.05  , 0.0125, 0.0125])
    """
    names, places = np.unique(np.asarray(packages), return_inverse=True)
    totals = np.bincount(places, weights=sizes)
    return 1 / totals[places] / len(names)


def cover(savings: Savings, weights: Savings, count: int) -> list[int]:
    """Return the columns of the `count` tails that together save most, the best alone first.

    Each next one adds most to the weighted sum of the functions' best savings. It ends early when
    none adds anything.

    >>> cover(np.array([[3.0, 0.0, 2.0], [0.0, 2.0, 2.0]]), np.array([1.0, 1.0]), 3)
    [2, 0]
    """
    best = np.zeros(len(savings))
    chosen: list[int] = []
    while len(chosen) < count:
        gains = weights @ np.maximum(savings - best[:, None], 0)
        column = int(gains.argmax())
        if gains[column] <= 0:
            break
        chosen.append(column)
        best = np.maximum(best, savings[:, column])
    return chosen


def savings_by_count(savings: Savings) -> Savings:
    """Return the best saving of each function among the first 1, 2, ... tails."""
    return np.maximum.accumulate(savings, axis=1)
