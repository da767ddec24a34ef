# SPDX-License-Identifier: MIT
"""Estimates how long a step will take from the steps before.

A step of a vector ends when its slowest row does, so that row should begin first. The estimates
decide the order of the rows alone, and never the results.
"""

import math
from collections.abc import Iterable
from typing import Any

__all__ = ["Durations"]

_RATE = 0.3
"""The learning rate: which share of an error corrects the estimate."""

_MOST_ACTIONS = 1 << 14
"""How many actions have estimates of their own."""


class Durations:
    """Estimates for `rows` rows, each with a program of its own size, and for actions.

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
        """Return the estimated seconds of each action; only integers are told apart."""
        pace, effort = self._pace, self._effort
        return [
            math.exp(pace[row] + (effort.get(action, 0.0) if type(action) is int else 0.0))
            for row, action in zip(rows, actions, strict=True)
        ]

    def learn(self, rows: Iterable[int], actions: Iterable[Any], seconds: Iterable[float]) -> None:
        """Correct the estimates by the seconds that each action took; 0 means unknown."""
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
