# SPDX-License-Identifier: MIT
"""Greedy search over the decisions that a program offers: one decision at a time, the best of each.

Decisions come before passes, so they cannot be appended to a sequence: here a step of greedy
search makes one decision, before the passes of the best start.
"""

import random
from collections.abc import Sequence

from compiler_gym.search.strategy import MoveSequence, Moveset
from compiler_gym.search.tree import Walk

__all__ = ["DecisionSweep", "EpsilonDecisionSweep"]

_Choices = dict[int, int]
"""The action chosen for each decision, by its index; the compiler makes the others."""


class DecisionSweep:
    """Sweep over all decisions, keeping the best choice of each, until a sweep gains nothing."""

    epsilon = 0.0
    """The probability that a choice is random."""
    repeats = False
    """True to start again without decisions once a sweep gains nothing."""

    def __init__(self, moves: Moveset, generator: random.Random) -> None:
        self._moves = moves
        self._random = generator
        self._decided: _Choices = {}
        self._tail: MoveSequence = ()
        self._reward = float("-inf")
        self._undecided = float("-inf")
        """The reward of the start without decisions."""
        self._has_begun = False
        self._order: list[int] = []
        """Decisions left in this sweep, the next one last."""
        self._helped = False
        self._proposals: list[_Choices] = []
        self._is_random_step = False

    def ask(self) -> Sequence[MoveSequence]:
        """Return the starts alone, then every choice of the next decision."""
        if not self._has_begun:
            return [self._moves.pack(start) for start in ((), *self._moves.starts)]
        if not self._order and not self._next_sweep():
            return []
        index = self._order[-1]
        choices = self._moves.decisions[index].choices
        current = self._decided.get(index, choices[0])
        alternatives = [choice for choice in choices if choice != current]
        self._is_random_step = self._random.random() < self.epsilon
        if self._is_random_step:
            alternatives = [self._random.choice(alternatives)]
        self._proposals = [self._with(index, choice) for choice in alternatives]
        return [self._sequence(decided) for decided in self._proposals]

    def suggest(self, sequence: MoveSequence) -> None:
        """Ignore it: the decisions of another program do not apply here."""

    def tell(self, walks: Sequence[Walk]) -> None:
        """Keep the best choice if it beats the current one or was drawn at random."""
        if not self._has_begun:
            best = max(walks, key=lambda walk: (walk.last.reward, -len(walk.requested)))
            self._has_begun = True
            self._tail, self._undecided = best.requested, best.last.reward
            self._begin_sweep()
            self._reward = self._undecided
            return
        self._order.pop()
        tried = [
            (walk.last.reward, decided)
            for walk, decided in zip(walks, self._proposals, strict=False)
            if walk.failure is None
        ]
        reward, decided = max(tried, key=lambda row: row[0], default=(float("-inf"), self._decided))
        helps = reward > self._reward
        if helps or (tried and self._is_random_step):
            self._reward, self._decided = reward, decided
        self._helped = self._helped or helps

    def _next_sweep(self) -> bool:
        """Begin another sweep over all decisions; return False if there is none."""
        if not self._helped:
            if not self.repeats:
                return False
            self._decided, self._reward = {}, self._undecided
        self._begin_sweep()
        return bool(self._order)

    def _begin_sweep(self) -> None:
        self._helped = False
        self._order = list(range(len(self._moves.decisions)))
        self._random.shuffle(self._order)

    def _with(self, index: int, choice: int) -> _Choices:
        decided = {at: move for at, move in self._decided.items() if at != index}
        if choice != self._moves.decisions[index].choices[0]:
            decided[index] = choice
        return decided

    def _sequence(self, decided: _Choices) -> MoveSequence:
        decisions = [decided[index] for index in sorted(decided)]
        return self._moves.pack((*decisions, *self._tail))


class EpsilonDecisionSweep(DecisionSweep):
    """Repeat greedy sweeps in which some choices are random."""

    epsilon = 0.1
    repeats = True
