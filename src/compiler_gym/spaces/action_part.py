# SPDX-License-Identifier: MIT
"""One row of what an action is made of, where actions have no names."""

from typing import NamedTuple

__all__ = ["ActionPart"]


class ActionPart(NamedTuple):
    """Something that an action chooses, for people; a space lists its own as ``parts``.

    >>> ActionPart("regalloc", "default, basic, greedy", "Which register allocator").name
    'regalloc'
    """

    name: str
    values: str
    """What can be chosen, in words."""
    description: str
