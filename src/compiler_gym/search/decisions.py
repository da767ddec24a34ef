# SPDX-License-Identifier: MIT
"""Search over the decisions that a program offers: a few, a region or a callee at a time.

A proposal is a set of decisions and the best known sequence of passes. Decisions in different
parts of a program hardly interact: the gains of several proposals are tried together next.
Late decisions are tried on the program that the passes left, so that no pass runs again.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from compiler_gym.search.strategy import MoveSequence, Moveset
from compiler_gym.search.tree import Walk
from compiler_gym.spaces import Decision

__all__ = ["DecisionSearch"]

_DECISIONS_BATCH = 6
_LATER_STARTS = 1
"""Number of starts without any decision that are tried in a batch, after the first."""
_CHANGE_SIZES: Sequence[int] = (1, 2, 4, 8, 16)
_GROUP, _START, _KNOWN = 0, -1, -2
"""Sizes that stand for a whole group, for another start, and for a change that is not learnt from:
one that is known to pay elsewhere, or what several gained together."""
_UNDONE = 0.35
"""The probability that a changed decision is left to the compiler again."""
_FADES = 0.93
"""The factor by which each try shrinks a weight."""
_LEAST = 0.15
"""The least weight: a change that does not pay now may pay later."""

_Made = dict[int, int]
"""The action chosen for each decision, by its index; others are left to the compiler."""


class _Proposal(NamedTuple):
    made: _Made
    tail: MoveSequence
    size: int = _KNOWN
    """Number of decisions that were meant to be changed."""
    kind: str = ""
    """Of what they are."""


class DecisionSearch:
    """Hold the best set of decisions, flip some of them, keep what is no worse.

    Starts that decisions are part of are tried first, and the others, a few at a time, with the
    best decisions so far: on a large program all of them would take the whole time. Without such
    starts, all are tried at first. Then come the late decisions that paid on other programs, the
    best first, and those of the start in reverse.
    """

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
        self._place_of = {m: place for place, d in enumerate(self._decisions) for m in d.choices}
        deciding = [s for s in moves.starts if any(m in self._place_of for m in s)]
        self._starts: list[MoveSequence] = [s for s in moves.starts if s not in deciding]
        self._first: Sequence[MoveSequence] = deciding
        if not deciding:
            self._first, self._starts = [(), *self._starts], []
        self._known: list[tuple[int, int]] = []
        """Late decisions that are still to be tried, by place and action, the next one last."""
        self._asked: list[_Proposal] = []
        self._next: list[_Made] = []

    def ask(self) -> Sequence[MoveSequence]:
        """Return the first starts, then changes of the best of them."""
        if self._first:
            self._asked = [self._read(start) for start in self._first]
            return [self._sequence(proposal) for proposal in self._asked]
        self._asked = [_Proposal(made, self._tail) for made in self._next]
        self._next = []
        starts, self._starts = self._starts[:_LATER_STARTS], self._starts[_LATER_STARTS:]
        late = {at: self._base[at] for at in self._places(self._base, is_late=True)}
        self._asked += [_Proposal(late, tuple(start), _START) for start in starts]
        while len(self._asked) < _DECISIONS_BATCH and self._known:
            place, action = self._known.pop()
            if (made := self._with(place, action)) != self._base:
                self._asked.append(_Proposal(made, self._tail))
        while len(self._asked) < _DECISIONS_BATCH:
            self._asked.append(self._change_decisions())
        return [self._sequence(proposal) for proposal in self._asked]

    def suggest(self, sequence: MoveSequence) -> None:
        """Ignore it: the decisions of another program mean nothing here."""

    def tell(self, walks: Sequence[Walk]) -> None:
        """Take the best as the base, and combine what helped."""
        before, tail, level = self._base, self._tail, self._reward
        gained: list[tuple[float, _Made]] = []
        for walk, asked in zip(walks, self._asked, strict=False):
            reward = float("-inf") if walk.failure is not None else walk.last.reward
            self._learn(asked.size, asked.kind, reward - level)
            if reward > level and asked.tail == tail:
                gained.append((reward, asked.made))
            is_shorter = self._first and len(asked.tail) < len(self._tail)
            if reward > self._reward or (
                reward == self._reward and (not self._first or is_shorter)
            ):
                self._reward, self._base, self._tail = reward, asked.made, asked.tail
        if self._first:
            self._first = ()
            self._known = self._promising()
        elif len(gained) > 1 and self._tail == tail:
            self._combine(before, gained)

    def _read(self, start: Sequence[int]) -> _Proposal:
        made = {self._place_of[move]: move for move in start if move in self._place_of}
        return _Proposal(made, tuple(move for move in start if move not in self._place_of))

    def _promising(self) -> list[tuple[int, int]]:
        """Return what may make the base better, the best last: to drop a decision, or make it."""
        rows = [
            (gain, place, action)
            for place, decision in enumerate(self._decisions)
            if decision.is_late
            for gain, action in zip(decision.gains[1:], decision.choices[1:], strict=True)
            if gain < 0
        ]
        made = self._places(self._base, is_late=True)
        late = [(place, self._decisions[place].choices[0]) for place in made]
        best = [(place, action) for _, place, action in sorted(rows, reverse=True)]
        return [*late, *best]

    def _with(self, place: int, action: int) -> _Made:
        made = {at: move for at, move in self._base.items() if at != place}
        if action != self._decisions[place].choices[0]:
            made[place] = action
        return made

    def _sequence(self, proposal: _Proposal) -> MoveSequence:
        """Return `proposal` as moves: what is late behind the passes, if nothing else changed."""
        made, tail = proposal.made, proposal.tail
        early = self._actions(made, self._places(made, is_late=False))
        is_changed = early != self._actions(self._base, self._places(self._base, is_late=False))
        if tail == self._tail and is_changed:
            return self._moves.join((*self._actions(made, made), *tail))
        late = self._actions(made, self._places(made, is_late=True))
        return (*self._moves.join((*early, *tail)), *self._moves.join(late))

    def _places(self, made: _Made, *, is_late: bool) -> list[int]:
        return [place for place in made if self._decisions[place].is_late is is_late]

    def _actions(self, made: _Made, places: Iterable[int]) -> MoveSequence:
        return tuple(made[place] for place in sorted(places))

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

    def _change_decisions(self) -> _Proposal:
        """Return the base with some decisions changed, how many were meant to be, and of what."""
        made = dict(self._base)
        size = self._random.choices(list(self._sizes), list(self._sizes.values()))[0]
        kind = self._random.choices(list(self._kinds), list(self._kinds.values()))[0]
        if size == _GROUP and self._groups:
            group = self._groups[self._random.choice(list(self._groups))]
            self._flip_together(made, group)
            return _Proposal(made, self._tail, size, self._decisions[group[0]].groups[0])
        for _ in range(max(size, 1)):
            self._flip(made, self._random.choice(self._of_kind[kind]))
        return _Proposal(made, self._tail, size, kind)

    def _flip(self, made: _Made, place: int) -> None:
        if place in made and self._random.random() < _UNDONE:
            del made[place]
            return
        others = [m for m in self._decisions[place].choices[1:] if made.get(place) != m]
        if others:
            made[place] = self._random.choice(others)

    def _flip_together(self, made: _Made, group: Sequence[int]) -> None:
        """Choose the same for all of a group that can be chosen so."""
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
    """Return how often what had the weight `before` is tried after another `gain`."""
    return max(_FADES * before, _LEAST) + (gain > 0)
