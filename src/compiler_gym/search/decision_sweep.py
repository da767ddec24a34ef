# SPDX-License-Identifier: MIT
"""Greedy search over the decisions that a program offers: one after another, the best of each.

Decisions come before passes, so that no decision can be added to the end of a sequence: here a
step of greedy search is one decision, before the best of the starts.
"""

import random
from collections.abc import Sequence

from compiler_gym.search.strategy import MoveSequence, Moveset
from compiler_gym.search.tree import Walk

__all__ = ["DecisionSweep", "EpsilonDecisionSweep"]

_Made = dict[int, int]
"""The action chosen for each decision, by its index; others are left to the compiler."""


class DecisionSweep:
    """Sweep over all decisions and keep the best choice of each, until a sweep gains nothing."""

    epsilon = 0.0
    """The probability that a choice is random."""
    repeats = False
    """True to start again, with nothing decided, once a sweep gains nothing."""

    def __init__(self, moves: Moveset, generator: random.Random) -> None:
        self._moves = moves
        self._random = generator
        self._made: _Made = {}
        self._tail: MoveSequence = ()
        self._reward = float("-inf")
        self._undecided = float("-inf")
        """The reward of the start without decisions."""
        self._has_begun = False
        self._order: list[int] = []
        """Decisions still to be made in this sweep, the next one last."""
        self._helped = False
        self._asked: list[_Made] = []
        self._is_random_step = False

    def ask(self) -> Sequence[MoveSequence]:
        """Return the starts alone, then every choice of the next decision."""
        if not self._has_begun:
            return [self._moves.pack(start) for start in ((), *self._moves.starts)]
        if not self._order and not self._next_sweep():
            return []
        place = self._order[-1]
        choices = self._moves.decisions[place].choices
        now = self._made.get(place, choices[0])
        others = [choice for choice in choices if choice != now]
        self._is_random_step = self._random.random() < self.epsilon
        if self._is_random_step:
            others = [self._random.choice(others)]
        self._asked = [self._with(place, choice) for choice in others]
        return [self._sequence(made) for made in self._asked]

    def suggest(self, sequence: MoveSequence) -> None:
        """Ignore it: the decisions of another program mean nothing here."""

    def tell(self, walks: Sequence[Walk]) -> None:
        """Keep the best choice, if it beats the current one or was drawn at random."""
        if not self._has_begun:
            best = max(walks, key=lambda walk: (walk.last.reward, -len(walk.requested)))
            self._has_begun = True
            self._tail, self._undecided = best.requested, best.last.reward
            self._begin_sweep()
            self._reward = self._undecided
            return
        self._order.pop()
        known = [
            (walk.last.reward, made)
            for walk, made in zip(walks, self._asked, strict=False)
            if walk.failure is None
        ]
        reward, made = max(known, key=lambda item: item[0], default=(float("-inf"), self._made))
        helps = reward > self._reward
        if helps or (known and self._is_random_step):
            self._reward, self._made = reward, made
        self._helped = self._helped or helps

    def _next_sweep(self) -> bool:
        """Begin another sweep over all decisions, and return whether there is one."""
        if not self._helped:
            if not self.repeats:
                return False
            self._made, self._reward = {}, self._undecided
        self._begin_sweep()
        return bool(self._order)

    def _begin_sweep(self) -> None:
        self._helped = False
        self._order = list(range(len(self._moves.decisions)))
        self._random.shuffle(self._order)

    def _with(self, place: int, choice: int) -> _Made:
        made = {at: move for at, move in self._made.items() if at != place}
        if choice != self._moves.decisions[place].choices[0]:
            made[place] = choice
        return made

    def _sequence(self, made: _Made) -> MoveSequence:
        marks = [made[place] for place in sorted(made)]
        return self._moves.pack((*marks, *self._tail))


class EpsilonDecisionSweep(DecisionSweep):
    """Repeat greedy sweeps, in which some choices are random."""

    epsilon = 0.1
    repeats = True
