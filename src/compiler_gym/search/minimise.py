# SPDX-License-Identifier: MIT
"""Remove the unnecessary actions of a sequence."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from compiler_gym.search.strategy import MoveSequence, as_it_is
from compiler_gym.search.tree import Node, Walk

__all__ = ["Minimiser", "Shrinking"]

_Item = TypeVar("_Item")


class Shrinking(Generic[_Item]):
    """Remove halves, then quarters, ... and single items, until every item is needed.

    Each round without success doubles the size of the next batch, so that several threads can
    test it; few tests are wasted, because a success discards the rest of its batch.
    """

    def __init__(self, items: Sequence[_Item]) -> None:
        self.items = tuple(items)
        """The shortest sequence so far."""
        self._part = max(len(self.items) // 2, 1)
        self._start = 0
        self._width = 1
        self._is_shorter = False

    def ask(self) -> list[tuple[_Item, ...]]:
        """Return the next shorter sequences to test; an empty list at the end."""
        while self.items:
            starts = range(self._start, len(self.items), self._part)[: self._width]
            if starts:
                return [self.items[:i] + self.items[i + self._part :] for i in starts]
            if self._part == 1 and not self._is_shorter:
                break
            self._part, self._start, self._is_shorter = max(self._part // 2, 1), 0, False
        return []

    def tell(self, failed: int, kept: Sequence[_Item] | None = None) -> None:
        """Skip the first `failed` tests of the batch; `kept` is the result of the next, if any."""
        self._start += self._part * failed
        self._width *= 2
        if kept is not None:
            self.items, self._is_shorter, self._width = tuple(kept), True, 1


class Minimiser:
    """Look for a shorter sequence with the same reward, until every action is needed."""

    def __init__(
        self,
        node: Node,
        pack: Callable[[Sequence[int]], MoveSequence] = as_it_is,
        unpack: Callable[[Sequence[int]], MoveSequence] = as_it_is,
    ) -> None:
        self.node = node
        """The shortest sequence so far."""
        self._pack, self._unpack = pack, unpack
        self._shrinking = Shrinking(unpack(node.actions()))

    def ask(self) -> Sequence[MoveSequence]:
        """Return the next shorter sequences."""
        return [self._pack(actions) for actions in self._shrinking.ask()]

    def suggest(self, sequence: MoveSequence) -> None:
        """Ignore the sequence."""

    def tell(self, walks: Sequence[Walk]) -> None:
        """Accept the first sequence that is shorter and earns as much, or try other parts."""
        for failed, walk in enumerate(walks):
            if (node := self._shorter(walk)) is not None:
                self.node = node
                self._shrinking.tell(failed, self._unpack(node.actions()))
                return
        self._shrinking.tell(len(walks))

    def _shorter(self, walk: Walk) -> Node | None:
        enough = (node for node in walk.nodes if node.reward >= self.node.reward)
        return next((node for node in enough if node.length < self.node.length), None)
