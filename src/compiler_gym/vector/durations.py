# SPDX-License-Identifier: MIT
"""How long a step may take, guessed from those before.

The slowest row of a vector decides when its step ends, so it had better begin first. A guess
only says who computes when: whatever it is, every row gives the same results.
"""

import math
from collections.abc import Iterable
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
    ...     for action in (0, 1):
    ...         durations.learn([0, 1], [action] * 2, [(action + 1) * 1e-3, (action + 1) * 1e-2])
    >>> one, other = durations.guess([0, 1], [0, 1])
    >>> round(other / one)
    20
    """

    def __init__(self, rows: int) -> None:
        self._pace = [math.log(1e-3)] * rows
        self._effort: dict[Any, float] = {}

    def guess(self, rows: Iterable[int], actions: Iterable[Any]) -> list[float]:
        """Return the seconds of each action; only whole numbers are told apart as actions."""
        pace, effort = self._pace, self._effort
        return [
            math.exp(pace[row] + (effort.get(action, 0.0) if type(action) is int else 0.0))
            for row, action in zip(rows, actions, strict=True)
        ]

    def learn(self, rows: Iterable[int], actions: Iterable[Any], seconds: Iterable[float]) -> None:
        """Take in what each action took in its row; 0 is not known."""
        pace, effort = self._pace, self._effort
        for row, action, taken in zip(rows, actions, seconds, strict=True):
            if not taken:
                continue
            is_known = type(action) is int and action in effort
            expected = pace[row] + (effort[action] if is_known else 0.0)
            wrong_by = math.log(taken) - expected
            if is_known:
                pace[row] += _RATE / 2 * wrong_by
                effort[action] += _RATE * wrong_by
            elif type(action) is not int:
                pace[row] += _RATE * wrong_by
            elif len(effort) < _MOST_ACTIONS:
                effort[action] = wrong_by
