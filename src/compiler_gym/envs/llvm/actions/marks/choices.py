# SPDX-License-Identifier: MIT
"""The choices for a call site, a loop and a function, and the syntax of such an action.

A mark such as ``call:17=never`` consists of a kind, an id and a choice. Its number, counted from
the end of the passes, depends on these three alone, so it has the same meaning in every program.
"""

import re
from typing import NamedTuple

from compiler_gym.errors import UnknownNameError
from compiler_gym.errors.nearest import did_you_mean

__all__ = ["BLOCK", "CHOICES", "KINDS", "Mark", "mark_at", "mark_named"]

CHOICES: dict[str, tuple[str, ...]] = {
    "call": ("default", "inline", "never"),
    "loop": (
        "default",
        "off",
        *(f"unroll.{how}" for how in ("disable", "full", "2", "4", "8", "16")),
        *(f"vectorize.{width}" for width in (1, 2, 4, 8, 16)),
        *(f"interleave.{count}" for count in (1, 2, 4, 8)),
        "distribute.on",
        "distribute.off",
        "peel.1",
        "peel.2",
    ),
    "function": ("default", "optsize", "minsize", "cold", "hot", "noinline"),
}
"""The choices of each kind, as the engine numbers them; the first leaves the decision to LLVM."""

KINDS = tuple(CHOICES)
"""The kinds of decision points, as the engine numbers them."""

_STARTS = {
    kind: sum(len(CHOICES[before]) for before in KINDS[:number])
    for number, kind in enumerate(KINDS)
}
BLOCK = sum(map(len, CHOICES.values()))
"""The number of marks per id; a call, a loop and a function can share an id."""

_CHOICE = re.compile(rf"({'|'.join(KINDS)}):(0|[1-9]\d{{0,8}})=([a-z.0-9]+)")


class Mark(NamedTuple):
    """One choice of one decision.

    >>> str(Mark("call", 17, 2))
    'call:17=never'
    """

    kind: str
    id: int
    choice: int
    """The index among the choices of the kind."""

    @property
    def number(self) -> int:
        """The number of this mark among all marks."""
        return self.id * BLOCK + _STARTS[self.kind] + self.choice

    @property
    def point(self) -> str:
        """The decision point, such as ``call:17``."""
        return f"{self.kind}:{self.id}"

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}={CHOICES[self.kind][self.choice]}"


def mark_at(number: int) -> Mark:
    """Return the mark with this number.

    >>> mark_at(Mark("loop", 3, 5).number)
    Mark(kind='loop', id=3, choice=5)
    """
    id, offset = divmod(number, BLOCK)
    kind = next(kind for kind in reversed(KINDS) if offset >= _STARTS[kind])
    return Mark(kind, id, offset - _STARTS[kind])


def mark_named(text: str) -> Mark | None:
    """Return the mark that `text` spells; None if it is not a mark.

    Raises `UnknownNameError` for a choice that the kind does not have.

    >>> mark_named("function:0=cold"), mark_named("licm")
    (Mark(kind='function', id=0, choice=3), None)
    """
    match = _CHOICE.fullmatch(text)
    if match is None:
        return None
    kind, id, choice = match.groups()
    if choice not in CHOICES[kind]:
        hint = did_you_mean(choice, CHOICES[kind]) or f"choose from {', '.join(CHOICES[kind])}"
        raise UnknownNameError(f"{text!r}: a {kind} cannot be {choice!r}: {hint}")
    return Mark(kind, int(id), CHOICES[kind].index(choice))
