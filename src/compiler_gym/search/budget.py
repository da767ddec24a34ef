# SPDX-License-Identifier: MIT
"""The budget of a search: seconds, steps, or both. This module reads no clock."""

import math
from dataclasses import dataclass

from compiler_gym.errors import InvalidParameterError
from compiler_gym.options import ABOVE_0, WHOLE_ABOVE_0, check, option

__all__ = ["Budget"]

_REFINING_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of one search; at least one is required.

    >>> Budget(seconds=60).searching_seconds
    54.0
    """

    seconds: float | None = option(None, range=ABOVE_0)
    """Wall time for all programs together, including minimisation."""
    steps: int | None = option(None, range=WHOLE_ABOVE_0)
    """New actions tried on each program, not counting minimisation. A search limited only by
    steps gives the same result every time."""

    def __post_init__(self) -> None:
        if self.seconds is None and self.steps is None:
            raise InvalidParameterError("a search needs a limit: set seconds, steps or both")
        check(self)

    @property
    def searching_seconds(self) -> float:
        """Seconds until the search stops and starts to minimise the result."""
        if self.seconds is None:
            return math.inf
        return self.seconds * (1 - _REFINING_SHARE)

    @property
    def total_seconds(self) -> float:
        """Seconds until the search ends, including minimisation."""
        return math.inf if self.seconds is None else self.seconds
