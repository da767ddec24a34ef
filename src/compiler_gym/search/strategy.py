# SPDX-License-Identifier: MIT
"""The interface of the search algorithms, and the algorithms that keep no population.

A strategy proposes sequences of moves in batches and learns from their walks. It depends on no
compiler, runs nothing and reads no clock.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from compiler_gym.search.tree import Node, Walk
from compiler_gym.spaces import Decision

MoveSequence = tuple[int, ...]
CONTINUE = -1
"""The first move of a start that continues the best sequence so far."""


def as_it_is(sequence: Sequence[int]) -> MoveSequence:
    """Return `sequence` unchanged, each move as a separate step."""
    return tuple(sequence)


@dataclass(frozen=True, slots=True)
class Moveset:
    """The actions that an algorithm may propose."""

    size: int
    """Number of actions; they are the numbers below it."""
    starts: tuple[MoveSequence, ...] = ()
    """Sequences known to be good: tried first, and varied later."""
    opening: tuple[MoveSequence, ...] = ()
    """The starts in their order, with continuations of the best sequence so far among them, each of
    which begins with `CONTINUE`; empty if there are none."""
    longest: int = 64
    """The largest length of a proposal."""
    sets: tuple[int, ...] = ()
    """The index of the option that each action sets, if actions are settings."""
    pack: Callable[[Sequence[int]], MoveSequence] = as_it_is
    """Function that packs actions into a proposal: settings become one move, compiled once."""
    join: Callable[[Sequence[int]], MoveSequence] = as_it_is
    """Function that packs actions into one move if measuring each step would be expensive."""
    rest: int | None = None
    """The action that leaves the remaining questions to the compiler, if actions are answers."""
    vary: Callable[[int, random.Random], int] | None = None
    """Function that changes one part of a move, if moves have parts; it may return a new number
    of `size` or more."""
    decisions: tuple[Decision, ...] = ()
    """The decisions that this program offers, in addition to the actions below `size`."""

    @property
    def every(self) -> Sequence[int]:
        """Every action, including those of decisions."""
        if not self.decisions:
            return range(self.size)
        return [*range(self.size), *(move for d in self.decisions for move in d.choices)]


class Strategy(Protocol):
    """Proposer of sequences for one program.

    `ask` and `tell` are called alternately, never at the same time, by any thread.
    """

    def ask(self) -> Sequence[MoveSequence]:
        """Return the next sequences to walk; none to end the search."""
        ...

    def tell(self, walks: Sequence[Walk]) -> None:
        """Learn from the results of the last proposals, given in the order of the proposals."""
        ...

    def suggest(self, sequence: MoveSequence) -> None:
        """Consider a sequence that was good on another program, or ignore it."""
        ...


class MakeStrategy(Protocol):
    """Constructor of a strategy, such as the class of an algorithm."""

    def __call__(self, moves: Moveset, generator: random.Random) -> Strategy:
        """Return a new strategy for one program."""
        ...


def is_better(node: Node, than: Node | None) -> bool:
    """Return True if `node` earns more, or as much with fewer actions."""
    if than is None:
        return True
    return (node.reward, -node.length) > (than.reward, -than.length)


_RANDOM_BATCH = 8


class RandomSearch:
    """Try the known sequences, then random ones until the budget is spent."""

    def __init__(self, moves: Moveset, generator: random.Random) -> None:
        self._moves = moves
        self._random = generator
        self._every = moves.every
        self._waiting = list(moves.starts)

    def ask(self) -> Sequence[MoveSequence]:
        """Return the next sequences."""
        batch, self._waiting = self._waiting, []
        return batch or [self._sequence() for _ in range(_RANDOM_BATCH)]

    def suggest(self, sequence: MoveSequence) -> None:
        """Ignore the sequence."""

    def tell(self, walks: Sequence[Walk]) -> None:
        """Learn nothing."""

    def _sequence(self) -> MoveSequence:
        length = self._random.randint(1, self._moves.longest)
        return tuple(self._random.choice(self._every) for _ in range(length))


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
