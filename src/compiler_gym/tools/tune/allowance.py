# SPDX-License-Identifier: MIT
"""How long a tuning may go on: seconds, compilations, or both."""

import math
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from compiler_gym.errors import InvalidParameterError

__all__ = ["Allowance"]

T = TypeVar("T")


class Allowance:
    """What may be used, and what of it is left. Its time begins with `begin`.

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
                "a tuning needs a bound: expected seconds, compilations or both"
            )
        if seconds is not None and not 0 <= seconds < math.inf:
            raise InvalidParameterError(f"seconds is {seconds}: expected a number from 0")
        if compilations is not None and compilations < 0:
            raise InvalidParameterError(f"compilations is {compilations}: expected 0 or more")
        self.seconds = seconds
        """The seconds that it has when it begins; None where only compilations count."""
        self._end: float | None = None
        self._left = compilations
        self.used = 0
        """The compilations that were taken so far."""
        self.is_stopped = is_stopped
        """True if somebody wants to stop before the end."""

    @property
    def seconds_left(self) -> float:
        """Infinite where only compilations count."""
        if self.seconds is None:
            return math.inf
        return self.seconds if self._end is None else max(self._end - time.monotonic(), 0.0)

    @property
    def compilations_left(self) -> int | None:
        """None where only seconds count."""
        return self._left

    @property
    def is_over(self) -> bool:
        """True if nothing is left."""
        return self.seconds_left <= 0 or self._left == 0 or self.is_stopped()

    def begin(self) -> "Allowance":
        """Let the time run, if it does not yet."""
        if self._end is None and self.seconds is not None:
            self._end = time.monotonic() + self.seconds
        return self

    def take(self, wanted: Sequence[T]) -> list[T]:
        """Return as many of `wanted` as there are compilations left for, and count them."""
        taken = list(wanted)[: self._left] if self._left is not None else list(wanted)
        self.used += len(taken)
        if self._left is not None:
            self._left -= len(taken)
        return taken
