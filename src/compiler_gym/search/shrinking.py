# SPDX-License-Identifier: MIT
"""Find the first cause of a failure among many, or remove the items that it does not need."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

__all__ = ["Shrinking", "shrink", "smallest_failing"]

_Item = TypeVar("_Item")


def smallest_failing(count: int, fails: Callable[[int], bool]) -> int:
    """Return the smallest number below `count` that fails, or `count` if none does.

    Every larger number must fail, too. Takes about log2(count) tests.

    >>> smallest_failing(1000, lambda number: number >= 137)
    137
    """
    return bisect_left(range(count), True, key=fails)


def shrink(
    items: Sequence[_Item], holds: Callable[[tuple[_Item, ...]], bool]
) -> Iterator[tuple[_Item, ...]]:
    """Yield shorter and shorter parts of `items` for which `holds`, until every item is needed.

    >>> list(shrink("abcde", lambda part: "d" in part))[-1]
    ('d',)
    """
    shrinking = Shrinking(items)
    while batch := shrinking.ask():
        for failed, part in enumerate(batch):
            if holds(part):
                yield part
                shrinking.tell(failed, part)
                break
        else:
            shrinking.tell(len(batch))


class Shrinking(Generic[_Item]):
    """Remove halves, then quarters, ... and single items, until every item is needed.

    Each round without success doubles the size of the next batch, so that several threads can
    test it; few tests are wasted, because a success discards the rest of its batch.
    """

    def __init__(self, items: Sequence[_Item]) -> None:
        self.items = tuple(items)
        """The shortest sequence so far."""
        self._part = max(len(self.items) // 2, 1)
        self._start = 0
        self._width = 1
        self._is_shorter = False

    def ask(self) -> list[tuple[_Item, ...]]:
        """Return the next shorter sequences to test; an empty list at the end."""
        while self.items:
            starts = range(self._start, len(self.items), self._part)[: self._width]
            if starts:
                return [self.items[:i] + self.items[i + self._part :] for i in starts]
            if self._part == 1 and not self._is_shorter:
                break
            self._part, self._start, self._is_shorter = max(self._part // 2, 1), 0, False
        return []

    def tell(self, failed: int, kept: Sequence[_Item] | None = None) -> None:
        """Skip the first `failed` tests of the batch; `kept` is the result of the next, if any."""
        self._start += self._part * failed
        self._width *= 2
        if kept is not None:
            self.items, self._is_shorter, self._width = tuple(kept), True, 1
