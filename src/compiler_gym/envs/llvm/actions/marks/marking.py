# SPDX-License-Identifier: MIT
"""The worker's half of ``Marks``: numbers, lists and marks decision points."""

from msgspec import structs

from compiler_gym import _llvm
from compiler_gym.envs.llvm.actions.marks.choices import KINDS, mark_at
from compiler_gym.errors import InvalidActionError
from compiler_gym.session import ActionSpaceSpec, CommandlineSpec, FlagSpec

__all__ = ["MarkedPoint", "Marking", "choose"]

MarkedPoint = tuple[int, int, int]
"""A kind, an id and a choice, as numbers of the engine."""


def choose(module: _llvm.Module, mark: MarkedPoint) -> bool:
    """Mark `module` as in an episode and return whether it changed."""
    return _llvm.Marks(module).choose(*mark)


class Marking:
    """The decision points of one module; those without an id are numbered."""

    def __init__(self, module: _llvm.Module, declared: ActionSpaceSpec) -> None:
        assert isinstance(declared.space, CommandlineSpec)
        self._declared = declared
        self._steps = declared.space
        self._marks = _llvm.Marks(module)
        self._marks.number()
        self._ids = max(self._marks.ids(kind) for kind in range(len(KINDS)))
        self._listed: list[tuple[int, int, int, str]] = []

    def listing(self) -> ActionSpaceSpec | None:
        """Return the actions now available; None if they have not changed since the last call."""
        points = self._marks.points()
        if points == self._listed:
            return None
        self._listed = points
        items = [FlagSpec(f"{KINDS[k]}:{id}", "", f"{a} {label}") for k, id, a, label in points]
        ids = FlagSpec(f"ids:{self._ids}", "", "")
        space = structs.replace(self._steps, items=(*self._steps.items, ids, *items))
        return structs.replace(self._declared, space=space)

    def find_mark(self, action: int) -> MarkedPoint:
        """Return the mark that `action` makes, or raise `InvalidActionError`."""
        number = action - len(self._steps.items)
        mark = mark_at(max(number, 0))
        if number < 0 or mark.id >= self._ids:
            raise InvalidActionError(
                f"{action} is not an action of this program: its largest id is {self._ids - 1}"
            )
        return KINDS.index(mark.kind), mark.id, mark.choice

    def choose(self, mark: MarkedPoint) -> bool:
        """Mark the module and return whether it changed.

        If the choice is no longer possible, raises `InvalidActionError` and changes nothing.
        """
        return self._marks.choose(*mark)
