# SPDX-License-Identifier: MIT
"""The limit of a tuning: seconds, compilations, or both."""

import math
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from compiler_gym.errors import InvalidParameterError

__all__ = ["Allowance"]

T = TypeVar("T")


class Allowance:
    """A limit and its unused remainder. The time starts with `begin`.

    >>> allowance = Allowance(compilations=10)
    >>> allowance.take(["x"] * 12) == ["x"] * 10, allowance.is_over
    (True, True)
    """

    def __init__(
        self,
        *,
        seconds: float | None = None,
        compilations: int | None = None,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        if seconds is None and compilations is None:
            raise InvalidParameterError(
                "a tuning needs a limit: give seconds, compilations or both"
            )
        if seconds is not None and not 0 <= seconds < math.inf:
            raise InvalidParameterError(f"seconds must be finite and at least 0 (got {seconds})")
        if compilations is not None and compilations < 0:
            raise InvalidParameterError(f"compilations must be at least 0 (got {compilations})")
        self.seconds = seconds
        """The total time in seconds; None if only compilations count."""
        self._end: float | None = None
        self._left = compilations
        self.used = 0
        """The number of compilations used so far."""
        self.is_stopped = is_stopped
        """Returns True if the user wants to stop early."""

    @property
    def seconds_left(self) -> float:
        """The remaining time in seconds; infinite if only compilations count."""
        if self.seconds is None:
            return math.inf
        return self.seconds if self._end is None else max(self._end - time.monotonic(), 0.0)

    @property
    def compilations_left(self) -> int | None:
        """The remaining compilations; None if only seconds count."""
        return self._left

    @property
    def is_over(self) -> bool:
        """True if the time or the compilations are used up, or the user wants to stop."""
        return self.seconds_left <= 0 or self._left == 0 or self.is_stopped()

    def begin(self) -> "Allowance":
        """Start the time, unless it is running already."""
        if self._end is None and self.seconds is not None:
            self._end = time.monotonic() + self.seconds
        return self

    def take(self, items: Sequence[T]) -> list[T]:
        """Return as many of `items` as compilations remain, and count them as used."""
        taken = list(items)[: self._left] if self._left is not None else list(items)
        self.used += len(taken)
        if self._left is not None:
            self._left -= len(taken)
        return taken
