# SPDX-License-Identifier: MIT
"""Search over the decisions that a program offers: a few, a region or a callee at a time.

A proposal is a set of decisions, made at once, followed by the best known sequence of passes.
Decisions in different parts of a program hardly interact: the gains of several proposals are
tried together next.
"""

import random
from collections import defaultdict
from collections.abc import Sequence

from compiler_gym.search.strategy import MoveSequence, Moveset
from compiler_gym.search.tree import Walk
from compiler_gym.spaces import Decision

__all__ = ["DecisionSearch"]

_DECISIONS_BATCH = 6
_CHANGE_SIZES: Sequence[int] = (1, 2, 4, 8, 16)
_GROUP = 0
"""Stands for changing a whole group."""
_UNDONE = 0.35
"""The probability that a changed decision is left to the compiler again."""
_FADES = 0.93
"""The factor by which each try shrinks a weight."""
_LEAST = 0.15
"""The least weight: a change that does not pay now may pay later."""

_Made = dict[int, int]
"""The action chosen for each decision, by its index; others are left to the compiler."""


class DecisionSearch:
    """Hold the best set of decisions, flip some of them, keep what is no worse."""

    def __init__(self, moves: Moveset, generator: random.Random) -> None:
        self._moves = moves
        self._random = generator
        self._decisions: Sequence[Decision] = moves.decisions
        self._groups: dict[str, list[int]] = defaultdict(list)
        self._of_kind: dict[str, list[int]] = defaultdict(list)
        for place, decision in enumerate(self._decisions):
            self._of_kind[decision.groups[0]].append(place)
            for group in decision.groups[1:]:
                self._groups[group].append(place)
        self._kinds = dict.fromkeys(self._of_kind, 1.0)
        self._sizes = dict.fromkeys((_GROUP, *_CHANGE_SIZES), 1.0)
        self._base: _Made = {}
        self._tail: MoveSequence = ()
        self._reward = float("-inf")
        self._starts: Sequence[MoveSequence] = [(), *moves.starts]
        self._place_of = {m: place for place, d in enumerate(self._decisions) for m in d.choices}
        self._asked: list[tuple[_Made, int, str]] = []
        self._next: list[_Made] = []

    def ask(self) -> Sequence[MoveSequence]:
        """Return the starts alone, then decisions before the best of them."""
        if self._starts:
            return [self._moves.pack(start) for start in self._starts]
        self._asked = [(made, -1, "") for made in self._next]
        self._next = []
        while len(self._asked) < _DECISIONS_BATCH:
            self._asked.append(self._changed())
        return [self._sequence(made) for made, _, _ in self._asked]

    def suggest(self, sequence: MoveSequence) -> None:
        """Ignore it: the decisions of another program mean nothing here."""

    def tell(self, walks: Sequence[Walk]) -> None:
        """Take the best as the base, and combine what helped."""
        if self._starts:
            self._begin(walks)
            return
        before, level = self._base, self._reward
        gained: list[tuple[float, _Made]] = []
        for walk, (made, size, kind) in zip(walks, self._asked, strict=False):
            reward = float("-inf") if walk.failure is not None else walk.last.reward
            self._learn(size, kind, reward - level)
            if reward > level:
                gained.append((reward, made))
            if reward >= self._reward:
                self._reward, self._base = reward, made
        if len(gained) > 1:
            self._combine(before, gained)

    def _begin(self, walks: Sequence[Walk]) -> None:
        """Take the best start as the tail, and the decisions in it as the base."""
        best = max(
            range(len(walks)), key=lambda at: (walks[at].last.reward, -len(self._starts[at]))
        )
        start, self._starts = self._starts[best], ()
        self._reward = walks[best].last.reward
        self._tail = tuple(move for move in start if move not in self._place_of)
        self._base = {self._place_of[move]: move for move in start if move in self._place_of}

    def _sequence(self, made: _Made) -> MoveSequence:
        marks = [made[place] for place in sorted(made)]
        return self._moves.pack((*marks, *self._tail))

    def _learn(self, size: int, kind: str, gain: float) -> None:
        if size < 0:
            return
        self._sizes[size] = _weight(self._sizes[size], gain)
        self._kinds[kind] = _weight(self._kinds[kind], gain)

    def _combine(self, before: _Made, gained: Sequence[tuple[float, _Made]]) -> None:
        together = dict(before)
        for _, made in sorted(gained, key=lambda item: item[0]):
            together.update({p: move for p, move in made.items() if before.get(p) != move})
            for place in before.keys() - made.keys():
                together.pop(place, None)
        self._next.append(together)

    def _changed(self) -> tuple[_Made, int, str]:
        """Return the base with some decisions changed, the intended number, and their group."""
        made = dict(self._base)
        size = self._random.choices(list(self._sizes), list(self._sizes.values()))[0]
        kind = self._random.choices(list(self._kinds), list(self._kinds.values()))[0]
        if size == _GROUP and self._groups:
            group = self._groups[self._random.choice(list(self._groups))]
            self._flip_together(made, group)
            return made, size, self._decisions[group[0]].groups[0]
        for _ in range(max(size, 1)):
            self._flip(made, self._random.choice(self._of_kind[kind]))
        return made, size, kind

    def _flip(self, made: _Made, place: int) -> None:
        if place in made and self._random.random() < _UNDONE:
            del made[place]
            return
        others = [m for m in self._decisions[place].choices[1:] if made.get(place) != m]
        if others:
            made[place] = self._random.choice(others)

    def _flip_together(self, made: _Made, group: Sequence[int]) -> None:
        """Make the same choice for every decision of a group that has it."""
        kinds = self._decisions[self._random.choice(group)].kinds
        kind = self._random.choice(kinds)
        for place in group:
            decision = self._decisions[place]
            if kind not in decision.kinds:
                continue
            at = decision.kinds.index(kind)
            if at:
                made[place] = decision.choices[at]
            else:
                made.pop(place, None)


def _weight(before: float, gain: float) -> float:
    """Return the new weight of a change with the weight `before` after another `gain`."""
    return max(_FADES * before, _LEAST) + (gain > 0)
