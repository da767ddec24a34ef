# SPDX-License-Identifier: MIT
"""Greedy search: at every step try each action and keep the best.

With probability epsilon a random action is kept instead. If epsilon is 0, the search ends in the
first state that no single action improves.
"""

import random
from collections.abc import Sequence

from compiler_gym.search.strategy import MoveSequence, Moveset, is_better
from compiler_gym.search.tree import Node, Walk

__all__ = ["EpsilonGreedySearch", "GreedySearch"]


class GreedySearch:
    """Climb with the best single action, from the best start and from the empty sequence."""

    def __init__(self, moves: Moveset, generator: random.Random) -> None:
        self._moves = moves
        self._bases: list[MoveSequence] = []
        self._base: MoveSequence | None = None
        self._level: float = 0.0
        self._starts_are_known = False

    def ask(self) -> Sequence[MoveSequence]:
        """Return every extension of the sequence by one action."""
        if not self._starts_are_known:
            return [(), *self._moves.starts]
        if self._base is None or len(self._base) >= self._moves.longest:
            return []
        return [(*self._base, move) for move in range(self._moves.size)]

    def suggest(self, sequence: MoveSequence) -> None:
        """Ignore the sequence."""

    def tell(self, walks: Sequence[Walk]) -> None:
        """Continue from the best extension, or from the other start if none is better."""
        best = _best(walks)
        if not self._starts_are_known:
            self._starts_are_known = True
            self._bases = [(), best.actions()] if best.depth else [()]
            self._base, self._level = self._bases.pop(), best.reward
        elif best.reward > self._level:
            self._base, self._level = best.actions(), best.reward
        else:
            self._base = self._bases.pop() if self._bases else None
            self._level = 0.0


class EpsilonGreedySearch:
    """Repeat greedy episodes with different random steps."""

    epsilon = 0.1
    """The probability that a step is random."""

    def __init__(self, moves: Moveset, generator: random.Random) -> None:
        self._moves = moves
        self._random = generator
        self._origins: list[Node] = []
        self._at: Node | None = None
        self._is_random_step = False

    def ask(self) -> Sequence[MoveSequence]:
        """Return every extension by one action, or a random one."""
        if self._at is None:
            return [(), *self._moves.starts]
        base = self._at.actions()
        self._is_random_step = self._random.random() < self.epsilon
        if self._is_random_step:
            return [(*base, self._random.randrange(self._moves.size))]
        return [(*base, move) for move in range(self._moves.size)]

    def suggest(self, sequence: MoveSequence) -> None:
        """Ignore the sequence."""

    def tell(self, walks: Sequence[Walk]) -> None:
        """Take the step, or start another episode if no step helps."""
        if self._at is None:
            self._origins = [walk.last for walk in walks]
            self._at = max(self._origins, key=lambda node: node.reward)
            return
        ends = [walk.last for walk in walks]
        top = max(node.reward for node in ends)
        helps = top > self._at.reward or self._is_random_step
        if helps and self._at.depth < self._moves.longest:
            self._at = self._random.choice([node for node in ends if node.reward == top])
        else:
            self._at = self._random.choice(self._origins)


def _best(walks: Sequence[Walk]) -> Node:
    best = walks[0].best
    for walk in walks[1:]:
        if is_better(walk.best, best):
            best = walk.best
    return best
