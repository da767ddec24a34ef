# SPDX-License-Identifier: MIT
"""Local search: make small changes to good sequences, accept equals, restart when stuck."""

import random
from collections.abc import Hashable, Sequence

from compiler_gym.search.mutation import SequenceMutator
from compiler_gym.search.strategy import MoveSequence, Moveset, is_better
from compiler_gym.search.tree import Node, Walk

__all__ = ["LocalSearch"]

_NEIGHBOURS_PER_BATCH = 8
_SIBLINGS = 4
"""Neighbours that share a prefix of a sequence, which is applied only once."""
_POOL = 12
_WALKS_WITHOUT_GAIN = 400
"""Walks without a gain after which the search restarts."""


class LocalSearch:
    """Keep a small pool of different good programs and search around them.

    A start of one action is tried but never extended: a pipeline such as -Oz takes longer than
    twenty passes, and single passes hardly improve its result. Sequences of single passes start
    out worse and end up better.

    If rewards are equal, the shorter sequence is better. After many walks without an
    improvement, the best of the pool joins the champions, and a new pool grows from their perturbed
    copies; every second restart mixes the champions themselves.
    """

    def __init__(self, moves: Moveset, generator: random.Random) -> None:
        self._moves = moves
        self._random = generator
        self._pipelines = frozenset(start[0] for start in moves.starts if len(start) == 1)
        """Actions that are complete pipelines, such as -Oz."""
        self._mutator = SequenceMutator(
            [move for move in range(moves.size) if move not in self._pipelines]
            or list(range(moves.size)),
            generator,
            longest=moves.longest,
            vary=moves.vary,
        )
        self._best: Node | None = None
        self._pool: list[Node] = []
        self._champions: list[Node] = []
        self._waiting: list[MoveSequence] = [(), *moves.starts]
        self._parents: list[float] = []
        self.stale = 0
        """Walks since the pool last improved."""
        self._restarts = 0

    @property
    def summits(self) -> list[Node]:
        """The best program so far, and the best one in the pool."""
        return [*filter(None, [self._best]), *self._pool[:1]]

    def seed(self, nodes: Sequence[Node]) -> None:
        """Add programs from another search to the pool."""
        for node in nodes:
            if not self._pool or node.reward > self._pool[0].reward:
                self.stale = 0
            self._admit(node)

    def suggest(self, sequence: MoveSequence) -> None:
        """Try `sequence` next."""
        self._waiting.append(sequence)

    def learn(self, walk: Walk, parent_reward: float) -> None:
        """Record which actions changed the program, and whether they beat `parent_reward`."""
        moves = [node.action for node in walk.nodes[1:]]
        self._mutator.learn(walk.requested, moves, walk.best.reward > parent_reward)

    def ask(self) -> Sequence[MoveSequence]:
        """Return the next neighbours."""
        if self._waiting:
            batch, self._waiting = (
                self._waiting[:_NEIGHBOURS_PER_BATCH],
                self._waiting[_NEIGHBOURS_PER_BATCH:],
            )
            self._parents = [float("inf")] * len(batch)
            return batch
        sequences = [node.actions() for node in self._pool]
        batch: list[MoveSequence] = []
        self._parents = []
        for _ in range(_NEIGHBOURS_PER_BATCH // _SIBLINGS):
            parent = self._parent()
            sequence = sequences[parent]
            start = self._mutator.place(len(sequence))
            for _ in range(_SIBLINGS):
                self._parents.append(self._pool[parent].reward)
                batch.append(tuple(self._mutator.neighbour(sequence, sequences, start)))
        return batch

    def tell(self, walks: Sequence[Walk]) -> None:
        """Keep good programs, and restart after too many walks without an improvement."""
        for walk, parent_reward in zip(walks, self._parents, strict=False):
            self.learn(walk, parent_reward)
            best = walk.best
            top = self._pool[0].reward if self._pool else float("-inf")
            self.stale = 0 if best.reward > top else self.stale + 1
            self._admit(best)
            level = [node for node in walk.nodes if node.reward == best.reward]
            self._admit(level[-1])
        if self.stale >= _WALKS_WITHOUT_GAIN:
            self._restart()

    def _parent(self) -> int:
        """Return the pool index of the better of two random programs."""
        return min(self._random.randrange(len(self._pool)) for _ in range(2))

    def _admit(self, node: Node) -> None:
        if is_better(node, self._best):
            self._best = node
        if any(step.action in self._pipelines for step in node.lineage()):
            return
        key = _identity(node)
        for i, other in enumerate(self._pool):
            if _identity(other) == key:
                if (node.reward, -node.depth) > (other.reward, -other.depth):
                    self._pool[i] = node
                break
        else:
            self._pool.append(node)
        self._pool.sort(key=lambda node: (-node.reward, node.depth))
        del self._pool[_POOL:]

    def _restart(self) -> None:
        self._champions.append(self._pool[0])
        self._champions.sort(key=lambda node: (-node.reward, node.depth))
        del self._champions[_POOL:]
        self.stale = 0
        self._restarts += 1
        self._pool = []
        if self._restarts % 2 == 0:
            self.seed(self._champions)
            return
        champions = [node.actions() for node in self._champions]
        disturbed = [self._mutator.perturb(self._random.choice(champions)) for _ in range(8)]
        fresh = [self._mutator.random() for _ in range(8)]
        self._waiting = [(), *self._moves.starts, *map(tuple, disturbed + fresh)]


def _identity(node: Node) -> Hashable:
    return id(node) if node.state is None else node.state
