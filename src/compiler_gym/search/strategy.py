# SPDX-License-Identifier: MIT
"""The contract of a search algorithm, and what it is told at the start.

An algorithm proposes sequences and is told what came of them. It runs nothing and
reads no clock: with the same seed and the same answers it proposes the same again.
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
    """Return `sequence`, each of whose moves is a step of its own."""
    return tuple(sequence)


@dataclass(frozen=True, slots=True)
class Moveset:
    """What an algorithm may propose."""

    size: int
    """Actions are the numbers below this."""
    starts: tuple[MoveSequence, ...] = ()
    """Sequences known to be good: tried first, and used as material."""
    longest: int = 64
    """The length that no proposal should pass."""
    sets: tuple[int, ...] = ()
    """Where actions are settings: the number of the option that each sets."""
    pack: Callable[[Sequence[int]], MoveSequence] = as_it_is
    """Writes actions as a proposal: settings become one move, which is compiled once."""
    rest: int | None = None
    """Where actions are answers: the one that leaves what is still asked to the compiler."""
    vary: Callable[[int, random.Random], int] | None = None
    """Returns a move that differs in one part from a given one, where moves have parts; it may
    be a number of its own, beyond `size`."""
    decisions: tuple[Decision, ...] = ()
    """What this program offers beside the actions below `size`."""

    @property
    def every(self) -> Sequence[int]:
        """Every action, those of decisions too."""
        if not self.decisions:
            return range(self.size)
        return [*range(self.size), *(move for d in self.decisions for move in d.choices)]


class Strategy(Protocol):
    """Proposes sequences; one object serves one program.

    `ask` and `tell` are called in turn, never at the same time, by any thread.
    """

    def ask(self) -> Sequence[MoveSequence]:
        """Return the next sequences to walk; none when nothing is left to try."""
        ...

    def tell(self, walks: Sequence[Walk]) -> None:
        """Learn what came of them, in the order in which they were proposed."""
        ...

    def suggest(self, sequence: MoveSequence) -> None:
        """Take note of a sequence that did well on another program, or ignore it."""
        ...


class MakeStrategy(Protocol):
    """Builds a strategy: every algorithm's class is one."""

    def __call__(self, moves: Moveset, generator: random.Random) -> Strategy: ...


def is_better(node: Node, than: Node | None) -> bool:
    """Return whether `node` earns more, or as much with fewer actions."""
    if than is None:
        return True
    return (node.reward, -node.length) > (than.reward, -than.length)
