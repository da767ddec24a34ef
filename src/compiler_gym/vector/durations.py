# SPDX-License-Identifier: MIT
"""Estimate the duration of a step from earlier steps.

A step of a vector ends when its slowest row does, so that row should begin first. The estimates
only decide the order of the rows, never the results.
"""

import math
from collections.abc import Iterable
from typing import Any

__all__ = ["Durations"]

_RATE = 0.3
"""The learning rate: the fraction of an error by which to correct an estimate."""

_MOST_ACTIONS = 1 << 14
"""The maximum number of actions with separate estimates."""


class Durations:
    """The estimated durations of steps, from the pace of each row and the effort of each action.

    >>> durations = Durations(2)
    >>> for _ in range(20):
    ...     for action in (0, 1):
    ...         durations.learn([0, 1], [action] * 2, [(action + 1) * 1e-3, (action + 1) * 1e-2])
    >>> first, second = durations.guess([0, 1], [0, 1])
    >>> round(second / first)
    20
    """

    def __init__(self, rows: int) -> None:
        self._pace = [math.log(1e-3)] * rows
        self._effort: dict[Any, float] = {}

    def guess(self, rows: Iterable[int], actions: Iterable[Any]) -> list[float]:
        """Return the estimated seconds of each action; only integers have separate estimates."""
        pace, effort = self._pace, self._effort
        return [
            math.exp(pace[row] + (effort.get(action, 0.0) if type(action) is int else 0.0))
            for row, action in zip(rows, actions, strict=True)
        ]

    def learn(self, rows: Iterable[int], actions: Iterable[Any], seconds: Iterable[float]) -> None:
        """Correct the estimates with the measured seconds of each action; 0 means unknown."""
        pace, effort = self._pace, self._effort
        for row, action, measured in zip(rows, actions, seconds, strict=True):
            if not measured:
                continue
            is_known = type(action) is int and action in effort
            expected = pace[row] + (effort[action] if is_known else 0.0)
            error = math.log(measured) - expected
            if is_known:
                pace[row] += _RATE / 2 * error
                effort[action] += _RATE * error
            elif type(action) is not int:
                pace[row] += _RATE * error
            elif len(effort) < _MOST_ACTIONS:
                effort[action] = error
