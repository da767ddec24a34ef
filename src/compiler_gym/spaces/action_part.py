# SPDX-License-Identifier: MIT
"""One component of an action without a name."""

from typing import NamedTuple

__all__ = ["ActionPart"]


class ActionPart(NamedTuple):
    """A choice within an action, described for people; a space lists them as ``parts``.

    >>> ActionPart("regalloc", "default, basic, greedy", "Which register allocator").name
    'regalloc'
    """

    name: str
    values: str
    """The possible values, as text."""
    description: str
