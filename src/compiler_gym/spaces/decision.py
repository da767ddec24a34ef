# SPDX-License-Identifier: MIT
"""A decision in a program, from the perspective of a search."""

from typing import NamedTuple

__all__ = ["Decision"]


class Decision(NamedTuple):
    """A group of actions, the last of which takes effect.

    A space whose actions depend on the program lists them with its method ``decisions``.

    >>> Decision("call:17", (200, 201), ("default", "never"), ("call", "main")).choices[0]
    200
    """

    name: str
    """The subject of the decision, such as ``call:17``."""
    choices: tuple[int, ...]
    """The actions, as numbers; the first keeps the compiler's default."""
    kinds: tuple[str, ...]
    """The choice of each action, in the same order: equal texts are equal choices elsewhere."""
    groups: tuple[str, ...]
    """Groups of the decision: a kind, then functions. Decisions of a group may be made together."""
    gains: tuple[float, ...] = ()
    """The change of the cost by each action on other programs (negative is a saving), if known."""
    is_late: bool = False
    """True if it can be made after all other actions, because they do not depend on it."""
