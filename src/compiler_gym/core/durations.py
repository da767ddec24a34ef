# SPDX-License-Identifier: MIT
"""How long a step may take, guessed from those before.

The slowest row of a vector decides when its step ends, so it had better begin first. A guess
only says who computes when: whatever it is, every row gives the same results.
"""

import math
from typing import Any

__all__ = ["Durations"]

_RATE = 0.3
"""Which share of what a guess was wrong by is learned at once."""

_MOST_ACTIONS = 1 << 14
"""How many actions are told apart."""


class Durations:
    """Guesses for `rows`, each of which has a program of its own size, and their actions.

    >>> durations = Durations(2)
    >>> for _ in range(20):
    ...     for row, factor in enumerate((1, 10)):
    ...         durations.learn(row, 0, factor * 1e-3); durations.learn(row, 1, factor * 2e-3)
    >>> [round(durations.guess(row, 1) / durations.guess(0, 0)) for row in (0, 1)]
    [2, 20]
    """

    def __init__(self, rows: int) -> None:
        self._pace = [math.log(1e-3)] * rows
        self._effort: dict[Any, float] = {}

    def guess(self, row: int, action: Any) -> float:
        """Return seconds; only whole numbers are told apart as actions."""
        return math.exp(self._logarithm(row, action))

    def learn(self, row: int, action: Any, seconds: float) -> None:
        """Take in that `action` took `seconds` in `row`."""
        wrong_by = math.log(max(seconds, 1e-7)) - self._logarithm(row, action)
        if type(action) is not int:
            self._pace[row] += _RATE * wrong_by
        elif action in self._effort:
            self._pace[row] += _RATE / 2 * wrong_by
            self._effort[action] += _RATE * wrong_by
        elif len(self._effort) < _MOST_ACTIONS:
            self._effort[action] = wrong_by

    def _logarithm(self, row: int, action: Any) -> float:
        return self._pace[row] + (self._effort.get(action, 0.0) if type(action) is int else 0.0)
