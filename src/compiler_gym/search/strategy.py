# SPDX-License-Identifier: MIT
"""The interface of a search algorithm, and its input.

An algorithm proposes sequences and receives their results. It runs nothing and reads no clock:
with the same seed and the same results it makes the same proposals.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from compiler_gym.search.tree import Node, Walk
from compiler_gym.spaces import Decision

__all__ = ["MoveSequence", "Moveset", "Strategy", "as_it_is", "is_better"]

MoveSequence = tuple[int, ...]


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

    def __call__(self, moves: Moveset, generator: random.Random) -> Strategy: ...


def is_better(node: Node, than: Node | None) -> bool:
    """Return True if `node` earns more, or as much with fewer actions."""
    if than is None:
        return True
    return (node.reward, -node.length) > (than.reward, -than.length)
