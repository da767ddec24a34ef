# SPDX-License-Identifier: MIT
"""The budget of a search: seconds, steps, or both. It reads no clock itself."""

import math
from dataclasses import dataclass

from compiler_gym.errors import InvalidParameterError
from compiler_gym.options import ABOVE_0, WHOLE_ABOVE_0, check, option

__all__ = ["Budget"]

_REFINING_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Budget:
    """The bounds of one search; at least one must be given.

    >>> Budget(seconds=60).searching_seconds
    54.0
    """

    seconds: float | None = option(None, range=ABOVE_0)
    """Wall time for all programs together, minimisation included."""
    steps: int | None = option(None, range=WHOLE_ABOVE_0)
    """New actions tried on each program. A search that is bounded by steps alone
    gives the same result every time. Minimising the result is not counted."""

    def __post_init__(self) -> None:
        if self.seconds is None and self.steps is None:
            raise InvalidParameterError("a search needs a bound: expected seconds, steps or both")
        check(self)

    @property
    def searching_seconds(self) -> float:
        """When to stop searching and start to minimise the result."""
        if self.seconds is None:
            return math.inf
        return self.seconds * (1 - _REFINING_SHARE)

    @property
    def total_seconds(self) -> float:
        """When the search ends, minimisation included."""
        return math.inf if self.seconds is None else self.seconds
