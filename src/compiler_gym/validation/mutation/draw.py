# SPDX-License-Identifier: MIT
"""Draw random decisions that are the same on every machine and in every version of Python."""

import random
from collections.abc import Sequence
from typing import TypeVar

__all__ = ["Draw"]

_T = TypeVar("_T")


class Draw:
    """Random numbers from the only method of `random` with a guaranteed sequence.

    >>> Draw("a seed").below(1000) == Draw("a seed").below(1000)
    True
    """

    __slots__ = ("_fraction",)

    def __init__(self, seed: str) -> None:
        self._fraction = random.Random(seed).random

    def below(self, limit: int) -> int:
        """Return a number in [0, limit)."""
        return int(self._fraction() * limit)

    def choice(self, items: Sequence[_T]) -> _T:
        """Return one of `items`."""
        return items[self.below(len(items))]

    def span(self, length: int, most: int) -> tuple[int, int]:
        """Return the start and end of a part of `length` items, at most `most`, mostly short."""
        start = self.below(length + 1)
        longest = self.below(min(most, length - start) + 1)
        return start, start + self.below(longest + 1)
