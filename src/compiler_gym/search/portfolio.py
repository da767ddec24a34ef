# SPDX-License-Identifier: MIT
"""Several algorithms in turn: known sequences, a climb by sweeps, then local search."""

import random
from collections.abc import Sequence

from compiler_gym.search.local import LocalSearch
from compiler_gym.search.strategy import Moveset, Sequence_, is_better
from compiler_gym.search.tree import Node, Walk

__all__ = ["PortfolioSearch"]

_SEEDS = 12
_SHUFFLES = 6


class PortfolioSearch:
    """Climb from the best known sequence, then search around everything good seen so far.

    A climb tries every action once and then all that helped together, in several
    orders: savings in different places of a program add up, so that this takes far
    fewer sweeps than one action at a time.
    """

    def __init__(self, moves: Moveset, generator: random.Random) -> None:
        self._moves = moves
        self._random = generator
        self._local = LocalSearch(moves, generator)
        self._base: Node | None = None
        self._chains: list[Sequence_] = []
        self._good: list[Node] = []
        self._is_climbing = True

    def ask(self) -> Sequence[Sequence_]:
        """Return the next sequences of the climb or of the local search."""
        if not self._is_climbing:
            return self._local.ask()
        if self._base is None:
            return [(), *self._moves.starts]
        if self._chains:
            return self._chains
        actions = self._base.actions()
        return [(*actions, move) for move in range(self._moves.size)]

    def suggest(self, sequence: Sequence_) -> None:
        """Try `sequence` once the climb is over."""
        self._local.suggest(sequence)

    def tell(self, walks: Sequence[Walk]) -> None:
        """Go on climbing while it helps."""
        if not self._is_climbing:
            self._local.tell(walks)
            return
        self._note(walks)
        if self._base is None:
            self._base = self._good[0]
        elif self._chains:
            self._chains = []
            self._climb_to(self._good[0])
        else:
            self._chains = self._combined(self._base, walks)
            if not self._chains:
                self._climb_to(self._base)

    def _note(self, walks: Sequence[Walk]) -> None:
        base_reward = self._base.reward if self._base is not None else float("inf")
        for walk in walks:
            self._good.append(walk.best)
            self._local.learn(walk, base_reward)
        self._good.sort(key=lambda node: (-node.reward, node.depth))
        del self._good[_SEEDS:]

    def _combined(self, base: Node, walks: Sequence[Walk]) -> list[Sequence_]:
        """Return the actions that helped, one after another, in several orders."""
        helped = [walk.last for walk in walks if walk.last.reward > base.reward]
        helped.sort(key=lambda node: -node.reward)
        if not helped:
            return []
        moves = [node.action for node in helped]
        orders = [moves, moves[::-1]]
        orders += [self._random.sample(moves, len(moves)) for _ in range(_SHUFFLES)]
        return [(*base.actions(), *order) for order in orders]

    def _climb_to(self, node: Node) -> None:
        assert self._base is not None
        if is_better(node, self._base):
            self._base = node
            return
        self._is_climbing = False
        self._local.seed(self._good)
