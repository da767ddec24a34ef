# SPDX-License-Identifier: MIT
"""The known names that are nearest to an unknown one: one answer for every kind of name.

A name is near if it is misspelt (``srao``), if it has another case, or if it is a part
of the known one (``Autophas``, ``poj104``).
"""

import difflib
from collections.abc import Iterable, Sequence

__all__ = ["did_you_mean", "nearest"]

_MOST = 3
_LEAST_PART = 3
"""The letters below which a part of a name says too little."""
_CUTOFF = 0.7


def nearest(name: object, known: Iterable[str], *, most: int = _MOST) -> list[str]:
    """Return up to `most` of the `known` names that `name` may stand for, nearest first.

    >>> nearest("ircount", ["IrInstructionCount", "IrSha1"])
    []
    >>> nearest("irsha", ["IrInstructionCount", "IrSha1"])
    ['IrSha1']
    """
    wanted = str(name).lower()
    by_lower: dict[str, list[str]] = {}
    for one in known:
        by_lower.setdefault(one.lower(), []).append(one)
    close = difflib.get_close_matches(wanted, by_lower, n=most, cutoff=_CUTOFF)
    parts: Sequence[str] = ()
    if len(wanted) >= _LEAST_PART:
        parts = sorted(
            (one for one in by_lower if wanted in one),
            key=lambda one: (not one.startswith(wanted), len(one)),
        )
    found = [one for lower in dict.fromkeys([*close, *parts]) for one in by_lower[lower]]
    return found[:most]


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return the question that ends an error, or nothing if no known name is near.

    >>> did_you_mean("Autophas", ["Autophase", "Ir"])
    'did you mean Autophase?'
    """
    found = nearest(name, known)
    return f"did you mean {' or '.join([', '.join(found[:-1]), found[-1]][len(found) < 2 :])}?" if (
        found
    ) else ""
