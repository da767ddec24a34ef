# SPDX-License-Identifier: MIT
"""Make small changes to a sequence of actions: the neighbourhood of local search."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import ClassVar, TypeAlias

__all__ = ["SequenceMutator"]

_ATTEMPTS = 5
_LATENESS = 4
"""At 4, a change starts on average in the last fifth of a sequence and costs 4 new actions.
At 2 it starts in the last third and costs 7, and equal numbers of actions gained a bit less."""

_VARIED = 0.4
"""The probability that a change varies a part of a move, if moves have parts."""

_Change: TypeAlias = Callable[["SequenceMutator", list[int], Sequence[Sequence[int]]], None]


class SequenceMutator:
    """Generator of neighbours of sequences that prefers actions with past gains."""

    def __init__(
        self,
        moves: Sequence[int],
        generator: random.Random,
        *,
        longest: int,
        vary: Callable[[int, random.Random], int] | None = None,
    ) -> None:
        self._vary = vary
        self._random = generator
        self._longest = longest
        self._moves = moves
        self._tries = Counter[int]()
        self._effects = Counter[int]()
        self._gains = Counter[int]()
        self._weights = dict.fromkeys(moves, 1.0)

    def place(self, length: int) -> int:
        """Return a position from 0 to `length` in a sequence, more likely near the end.

        Only the actions after a change must be applied again, so late changes are cheap and pay
        off more often per action.
        """
        return length - int((length + 1) * self._random.random() ** _LATENESS)

    def neighbour(
        self, sequence: Sequence[int], others: Sequence[Sequence[int]], start: int = 0
    ) -> list[int]:
        """Return a copy of `sequence` changed after `start`, perhaps with parts of `others`."""
        head, tail = list(sequence[:start]), list(sequence[start:])
        changed = self._vary_tail(tail, others)
        for _ in range(_ATTEMPTS):  # some changes leave a short tail unchanged
            if changed != tail:
                break
            changed = self._vary_tail(tail, others)
        return [*head, *changed][: self._longest]

    def _vary_tail(self, tail: Sequence[int], others: Sequence[Sequence[int]]) -> list[int]:
        changed = list(tail)
        count = 1
        while self._random.random() < 0.4 and count < 4:
            count += 1
        for _ in range(count):
            if self._vary is not None and changed and self._random.random() < _VARIED:
                position = self.place(len(changed) - 1)
                changed[position] = self._vary(changed[position], self._random)
                continue
            change = self._random.choices(self._CHANGES, _CHANCES)[0]
            change(self, changed, others)
        return changed

    def perturb(self, sequence: Sequence[int]) -> list[int]:
        """Return a copy far from `sequence`, with a third of its actions replaced."""
        return [m if self._random.random() < 2 / 3 else self.move() for m in sequence]

    def random(self) -> list[int]:
        """Return a new sequence."""
        return [self.move() for _ in range(self._random.randint(4, 24))][: self._longest]

    def move(self) -> int:
        """Return an action, more likely one that has changed and improved programs."""
        if self._random.random() < 0.25:
            return self._random.choice(self._moves)
        return self._random.choices(self._moves, list(self._weights.values()))[0]

    def learn(self, requested: Sequence[int], effective: Sequence[int], gain: bool) -> None:
        """Record which actions of a sequence changed the program, and whether it paid off."""
        for move in set(requested):
            self._tries[move] += 1
        for move in set(effective):
            self._effects[move] += 1
            if gain:
                self._gains[move] += 1
        for move in set(requested) & self._weights.keys():
            works = (self._effects[move] + 1) / (self._tries[move] + 2)
            pays = (self._gains[move] + 0.2) / (self._tries[move] + 4)
            self._weights[move] = works * (0.1 + 4 * pays)

    # -- changes, each in place ----------------------------------------------------------------

    def _insert(self, sequence: list[int], others: Sequence[Sequence[int]]) -> None:
        sequence.insert(self._random.randint(0, len(sequence)), self.move())

    def _append(self, sequence: list[int], others: Sequence[Sequence[int]]) -> None:
        sequence.extend(self.move() for _ in range(self._random.randint(1, 4)))

    def _delete(self, sequence: list[int], others: Sequence[Sequence[int]]) -> None:
        if sequence:
            del sequence[self._random.randrange(len(sequence))]

    def _delete_some(self, sequence: list[int], others: Sequence[Sequence[int]]) -> None:
        start = self._random.randint(0, len(sequence))
        del sequence[start : start + self._random.randint(1, 4)]

    def _replace(self, sequence: list[int], others: Sequence[Sequence[int]]) -> None:
        if sequence:
            sequence[self._random.randrange(len(sequence))] = self.move()

    def _swap(self, sequence: list[int], others: Sequence[Sequence[int]]) -> None:
        if len(sequence) > 1:
            i, j = self._random.sample(range(len(sequence)), 2)
            sequence[i], sequence[j] = sequence[j], sequence[i]

    def _shift(self, sequence: list[int], others: Sequence[Sequence[int]]) -> None:
        if len(sequence) > 1:
            move = sequence.pop(self._random.randrange(len(sequence)))
            sequence.insert(self._random.randint(0, len(sequence)), move)

    def _cross(self, sequence: list[int], others: Sequence[Sequence[int]]) -> None:
        other = self._random.choice(others)
        start = self.place(len(other))
        sequence[self._random.randint(0, len(sequence)) :] = other[start:]

    def _splice(self, sequence: list[int], others: Sequence[Sequence[int]]) -> None:
        other = self._random.choice(others)
        if other:
            start = self._random.randrange(len(other))
            part = other[start : start + self._random.randint(1, 6)]
            at = self._random.randint(0, len(sequence))
            sequence[at:at] = part

    _CHANGES: ClassVar = (
        _insert, _append, _delete, _delete_some, _replace, _swap, _shift, _cross, _splice
    )  # fmt: skip


_CHANCES = (5, 3, 2, 1, 4, 1, 2, 2, 3)
