# SPDX-License-Identifier: MIT
"""Items written one after another, separated by blanks, and read back.

Items may contain blanks. If several readings are possible, the longest item wins, as long as the
rest of the text can still be read.
"""

from collections.abc import Sequence
from typing import Any

from compiler_gym.errors import InvalidActionError, UnknownNameError
from compiler_gym.errors.nearest import nearest

__all__ = ["Words"]


class Words:
    """The texts of a space's items, which it finds in a longer text.

    Items with the same text are refused, unless they may be `repeated`; then the first counts.

    >>> Words(["-a", "-b", "-b x"], "flag").find("-a -b x -b")
    [0, 2, 1]
    """

    def __init__(self, items: Sequence[str], kind: str, *, repeated: bool = False) -> None:
        self.items = tuple(items)
        self.kind = kind
        """The noun for an item in messages."""
        numbered = reversed(list(enumerate(self.items)))
        self._numbers = {tuple(item.split()): number for number, item in numbered}  # the first
        if () in self._numbers:
            raise ValueError(f"the text of each {kind} must have at least one word: one is empty")
        if len(self._numbers) < len(self.items) and not repeated:
            raise ValueError(f"each {kind} must be different: {self._repeat()} is there twice")
        self._longest = max(map(len, self._numbers), default=1)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Words":
        """Return itself, because it is immutable."""
        return self

    def find(self, text: str) -> list[int]:
        """Return the numbers of the items that make up `text`.

        Raises `UnknownNameError` with the first word that does not belong to an item.
        """
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise InvalidActionError(f"expected text, got {text!r} ({type(text).__name__})")
        words = text.split()
        best: list[tuple[int, int]] = [(-1, 0)] * len(words)
        readable = [False] * len(words) + [True]
        for start in reversed(range(len(words))):
            for number, end in self._items_at(words, start):
                if readable[end]:
                    best[start], readable[start] = (number, end), True
                    break
        if not readable[0]:
            raise self._unknown(words)
        numbers: list[int] = []
        start = 0
        while start < len(words):
            number, start = best[start]
            numbers.append(number)
        return numbers

    def number(self, item: str) -> int:
        """Return the number of one item, or raise `UnknownNameError`."""
        try:
            return self._numbers[tuple(item.split())]
        except (AttributeError, KeyError):
            raise self._error(item) from None

    def _items_at(self, words: list[str], start: int) -> list[tuple[int, int]]:
        """Return ``(number, end)`` of each item that begins at `start`, longest first."""
        last = min(start + self._longest, len(words))
        ends = range(last, start, -1)
        numbers = ((self._numbers.get(tuple(words[start:end])), end) for end in ends)
        return [(number, end) for number, end in numbers if number is not None]

    def _unknown(self, words: list[str]) -> UnknownNameError:
        reached = {0}
        for start in range(len(words)):
            if start in reached:
                reached.update(end for _, end in self._items_at(words, start))
        return self._error(words[min(max(reached), len(words) - 1)])

    def _error(self, item: object) -> UnknownNameError:
        close = " or ".join(map(repr, nearest(item, self.items)))
        hint = f"did you mean {close}?" if close else f"expected one of {len(self.items)}"
        return UnknownNameError(f"no {self.kind} {item!r}; {hint}")

    def _repeat(self) -> str:
        previous: set[tuple[str, ...]] = set()
        for item in self.items:
            words = tuple(item.split())
            if words in previous:
                return repr(item)
            previous.add(words)
        raise AssertionError("every item is different")
