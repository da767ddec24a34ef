# SPDX-License-Identifier: MIT
"""Remove the unnecessary actions of a sequence."""

from collections.abc import Callable, Sequence

from compiler_gym.search.shrinking import Shrinking
from compiler_gym.search.strategy import MoveSequence, as_it_is
from compiler_gym.search.tree import Node, Walk

__all__ = ["Minimiser"]


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
