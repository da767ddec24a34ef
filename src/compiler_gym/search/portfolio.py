# SPDX-License-Identifier: MIT
"""Local search that sweeps over all actions from its best program whenever it is stuck."""

import random
from collections.abc import Sequence

from compiler_gym.search.local_search import LocalSearch
from compiler_gym.search.strategy import MoveSequence, Moveset, is_better
from compiler_gym.search.tree import Node, Walk

__all__ = ["PortfolioSearch"]

_STUCK = 120
"""Walks without a gain after which a sweep is worth its cost."""
_SHUFFLES = 4


class PortfolioSearch:
    """Search locally; when stuck, try every action once on the best program.

    After a sweep, all actions that helped are applied together, in several orders. Savings in
    different parts of a program add up, so this takes far fewer sweeps than adding one action
    at a time.
    """

    def __init__(self, moves: Moveset, generator: random.Random) -> None:
        self._moves = moves
        self._random = generator
        self._local = LocalSearch(moves, generator)
        self._base: Node | None = None
        """The best sequence of the climb; None during local search."""
        self._swept: set[Node] = set()
        self._chains: list[MoveSequence] = []

    def ask(self) -> Sequence[MoveSequence]:
        """Return the next sequences of the local search or of the climb."""
        if self._base is None:
            return self._local.ask()
        if self._chains:
            return self._chains
        actions = self._base.actions()
        return [(*actions, move) for move in range(self._moves.size)]

    def suggest(self, sequence: MoveSequence) -> None:
        """Let the local search try `sequence`."""
        self._local.suggest(sequence)

    def tell(self, walks: Sequence[Walk]) -> None:
        """Continue the local search, or the climb while it gains."""
        if self._base is None:
            self._local.tell(walks)
            if self._local.stale >= _STUCK:
                new = [node for node in self._local.summits if node not in self._swept]
                self._base = new[0] if new else None
            return
        for walk in walks:
            self._local.learn(walk, self._base.reward)
        if self._chains:
            self._chains = []
            self._climb(max((walk.best for walk in walks), key=_merit))
        else:
            self._swept.add(self._base)
            self._chains = self._combine(self._base, walks)
            if not self._chains:
                self._base = None

    def _combine(self, base: Node, walks: Sequence[Walk]) -> list[MoveSequence]:
        """Return sequences of all actions that helped, in several orders."""
        helped = [walk.last for walk in walks if walk.last.reward > base.reward]
        helped.sort(key=lambda node: -node.reward)
        if not helped:
            return []
        moves = [node.action for node in helped]
        orders = [moves, moves[::-1]]
        orders += [self._random.sample(moves, len(moves)) for _ in range(_SHUFFLES)]
        return [(*base.actions(), *order) for order in orders]

    def _climb(self, node: Node) -> None:
        assert self._base is not None
        is_higher = is_better(node, self._base)
        self._local.seed([node])
        self._base = node if is_higher and node not in self._swept else None


def _merit(node: Node) -> tuple[float, int]:
    return node.reward, -node.depth
