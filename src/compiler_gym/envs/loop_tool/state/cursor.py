# SPDX-License-Identifier: MIT
"""A loop tree, the loop that actions are about, and how to take them back."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from compiler_gym.envs.loop_tool.state.tree import Path, Tree

__all__ = ["Cursor"]

_MOST_UNDONE = 256
"""How many changes can be taken back."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a tree. Immutable: a move or a change makes another one, or returns this one."""

    tree: Tree
    at: int = 0
    """The number of the loop, from top to bottom as the text shows them."""
    resizes: bool = True
    """True if the actions ``up`` and ``down`` of 0.2.5 resize (``size``) or move (``select``)."""
    past: "tuple[tuple[Tree, int], ...]" = ()
    """The trees before each change, and where the cursor was."""

    @property
    def path(self) -> Path:
        """Where the loop is."""
        return self.tree.loops()[self.at][0]

    def move_by(self, steps: int, *, around: bool) -> "Cursor":
        """Return the cursor that many loops below; past an end it stays, or goes `around`."""
        count = len(self.tree.loops())
        to = self.at + steps
        to = to % count if around else min(max(to, 0), count - 1)
        return self if to == self.at else replace(self, at=to)

    def change_loop(self, change: Callable[[Tree, Path], Tree], *, move: int = 0) -> "Cursor":
        """Return the cursor after a change of its loop, `move` loops below where that happened."""
        tree = change(self.tree, self.path)
        if tree is self.tree:
            return self
        at = min(max(self.at + move, 0), len(tree.loops()) - 1)
        past = (*self.past, (self.tree, self.at))[-_MOST_UNDONE:]
        return replace(self, tree=tree, at=at, past=past)

    def toggle(self) -> "Cursor":
        """Return the cursor in the other mode."""
        return replace(self, resizes=not self.resizes)

    def undo(self) -> "Cursor":
        """Return the cursor before the last change of the tree."""
        if not self.past:
            return self
        tree, at = self.past[-1]
        return replace(self, tree=tree, at=at, past=self.past[:-1])
