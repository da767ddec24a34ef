# SPDX-License-Identifier: MIT
"""One thing that a program lets be decided, as a search sees it."""

from typing import NamedTuple

__all__ = ["Decision"]


class Decision(NamedTuple):
    """Actions of which the last that was chosen counts.

    A space whose actions depend on the program has a method ``decisions`` that lists them.

    >>> Decision("call:17", (200, 201), ("default", "never"), ("call", "main")).choices[0]
    200
    """

    name: str
    """What is decided, such as ``call:17``."""
    choices: tuple[int, ...]
    """The actions, as numbers; the first leaves it to the compiler."""
    kinds: tuple[str, ...]
    """What each action chooses, in the same order: equal texts are the same choice elsewhere."""
    groups: tuple[str, ...]
    """What it belongs to: a kind first, then functions. Those of one group may go together."""
    gains: tuple[float, ...] = ()
    """What each action changed on other programs, a cost that fell being below 0, if known."""
    is_late: bool = False
    """True if it may as well be made behind all other actions: nothing that they do sees it."""
