# SPDX-License-Identifier: MIT
"""Drops the actions of a sequence that do not matter."""

from collections.abc import Callable, Sequence

from compiler_gym.search.strategy import MoveSequence, as_it_is
from compiler_gym.search.tree import Node, Walk

__all__ = ["Minimiser"]


class Minimiser:
    """Look for a shorter sequence that earns as much, until no single action can go.

    Proposes the sequence without each of its parts: halves first, then quarters, at
    last single actions. Parts that can go one by one are then left out together.
    """

    def __init__(
        self,
        node: Node,
        pack: Callable[[Sequence[int]], MoveSequence] = as_it_is,
        unpack: Callable[[Sequence[int]], MoveSequence] = as_it_is,
    ) -> None:
        self.node = node
        """The shortest sequence so far."""
        self._pack, self._unpack = pack, unpack
        self._part = max(node.length // 2, 1)
        self._together: list[MoveSequence] = []
        self._proposed: Sequence[MoveSequence] = ()

    def ask(self) -> Sequence[MoveSequence]:
        """Return the next shorter sequences."""
        if self._together:
            shorter, self._together = self._together, []
            self._proposed = [self._pack(actions) for actions in shorter]
        elif self._part < 1:
            self._proposed = []
        else:
            actions = self._unpack(self.node.actions())
            starts = range(0, len(actions), self._part)
            left = [actions[:i] + actions[i + self._part :] for i in starts]
            self._proposed = [self._pack(actions) for actions in left]
        return self._proposed

    def suggest(self, sequence: MoveSequence) -> None:
        """Ignore it."""

    def tell(self, walks: Sequence[Walk]) -> None:
        """Take the shortest that earns as much, or try smaller parts."""
        goal = self.node.reward
        enough = [self._shortest(walk, goal) for walk in walks]
        shorter = [node for node in enough if node is not None and node.length < self.node.length]
        if not shorter:
            self._part //= 2
            return
        actions = self._unpack(self.node.actions())
        whole = len(walks) * self._part >= len(actions)
        if whole and len(shorter) > 1:
            can_go = [i for i, node in enumerate(enough) if node is not None]
            self._together = [self._without(actions, can_go), self._without(actions, can_go[::2])]
        self.node = min(shorter, key=lambda node: node.length)
        self._part = min(self._part, max(self.node.length // 2, 1))

    def _without(self, actions: MoveSequence, parts: Sequence[int]) -> MoveSequence:
        gone = {part * self._part + i for part in parts for i in range(self._part)}
        return tuple(action for i, action in enumerate(actions) if i not in gone)

    def _shortest(self, walk: Walk, goal: float) -> Node | None:
        return next((node for node in walk.nodes if node.reward >= goal), None)
