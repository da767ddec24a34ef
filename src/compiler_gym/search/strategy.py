# SPDX-License-Identifier: MIT
"""The contract of a search algorithm, and its input.

An algorithm proposes sequences and is told their results. It runs nothing and
reads no clock: with the same seed and the same results it makes the same proposals.
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
    """Return `sequence` unchanged: each of its moves is a separate step."""
    return tuple(sequence)


@dataclass(frozen=True, slots=True)
class Moveset:
    """The actions that an algorithm may propose."""

    size: int
    """Actions are the numbers below this."""
    starts: tuple[MoveSequence, ...] = ()
    """Sequences known to be good: tried first, and varied."""
    longest: int = 64
    """The greatest length of a proposal."""
    sets: tuple[int, ...] = ()
    """If actions are settings: the index of the option that each sets."""
    pack: Callable[[Sequence[int]], MoveSequence] = as_it_is
    """Packs actions into a proposal: settings become one move, which is compiled once."""
    join: Callable[[Sequence[int]], MoveSequence] = as_it_is
    """Packs actions into one move, where each step on the way would be costly to measure."""
    rest: int | None = None
    """If actions are answers: the action that leaves the remaining questions to the compiler."""
    vary: Callable[[int, random.Random], int] | None = None
    """Returns a move that differs from a given one in one part, if moves have parts; it may be a
    new number, beyond `size`."""
    decisions: tuple[Decision, ...] = ()
    """The decisions that this program offers, beside the actions below `size`."""

    @property
    def every(self) -> Sequence[int]:
        """Every action, including those of decisions."""
        if not self.decisions:
            return range(self.size)
        return [*range(self.size), *(move for d in self.decisions for move in d.choices)]


class Strategy(Protocol):
    """Proposes sequences; one object serves one program.

    `ask` and `tell` are called in turn, never at the same time, by any thread.
    """

    def ask(self) -> Sequence[MoveSequence]:
        """Return the next sequences to walk; none to end the search."""
        ...

    def tell(self, walks: Sequence[Walk]) -> None:
        """Learn the results of the last proposals, in the order in which they were proposed."""
        ...

    def suggest(self, sequence: MoveSequence) -> None:
        """Note a sequence that was good on another program, or ignore it."""
        ...


class MakeStrategy(Protocol):
    """Builds a strategy: the class of every algorithm is one."""

    def __call__(self, moves: Moveset, generator: random.Random) -> Strategy: ...


def is_better(node: Node, than: Node | None) -> bool:
    """Return whether `node` earns more, or as much with fewer actions."""
    if than is None:
        return True
    return (node.reward, -node.length) > (than.reward, -than.length)
