# SPDX-License-Identifier: MIT
"""A loop tree, the loop that actions apply to, and the undo history."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from compiler_gym_loop_tool.state.tree import Path, Tree

__all__ = ["Cursor"]

_MOST_UNDONE = 256
"""Number of changes that can be undone."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """A position in a tree. Immutable: a move or a change returns a new cursor, or this one."""

    tree: Tree
    at: int = 0
    """The number of the loop, from top to bottom in the text."""
    resizes: bool = True
    """True if ``up`` and ``down`` of 0.2.5 resize loops (``size``) instead of moving."""
    past: "tuple[tuple[Tree, int], ...]" = ()
    """The trees before each change, with the cursor's position."""

    @property
    def path(self) -> Path:
        """The path of the loop."""
        return self.tree.loops()[self.at][0]

    def move_by(self, steps: int, *, around: bool) -> "Cursor":
        """Return the cursor `steps` loops further down; past an end it stops, or goes `around`."""
        count = len(self.tree.loops())
        to = self.at + steps
        to = to % count if around else min(max(to, 0), count - 1)
        return self if to == self.at else replace(self, at=to)

    def change_loop(self, change: Callable[[Tree, Path], Tree], *, move: int = 0) -> "Cursor":
        """Return the cursor after a change of its loop, then moved down by `move` loops."""
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
