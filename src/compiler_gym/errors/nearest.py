# SPDX-License-Identifier: MIT
"""The known names that are nearest to an unknown one: one search for every kind of name.

A name is near if it is misspelt (``srao``), written with other letter case, a part of the
known one (``autoph``), or the known one's but for the version (``npb-v0`` for
``npb-llvm10-v0``).
"""

import difflib
import re
from collections.abc import Iterable

__all__ = ["did_you_mean", "nearest", "unknown_name"]

_MOST_NAMES = 3
_MOST_LISTED = 40
_LEAST_PART = 3
"""The shortest part of a name that counts as a match; at its start one letter fewer is enough."""
_CUTOFF = 0.7
_SHORT, _SHORT_CUTOFF = 3, 0.6
"""Two swapped letters of three (``gnv``) are a third of the name."""
_VERSION = re.compile(r"-v\d+$")


def nearest(
    name: object, known: Iterable[str], *, most: int = _MOST_NAMES, cutoff: float = _CUTOFF
) -> list[str]:
    """Return up to `most` of the `known` names that `name` may stand for, nearest first.

    `cutoff` is how alike they must be, from 0 to 1.

    >>> nearest("autofase", ["Ir", "Autophase"]), nearest("irsha", ["IrSha1", "Ir"])
    (['Autophase'], ['IrSha1'])
    """
    wanted = str(name).lower()
    by_lower: dict[str, list[str]] = {}
    for one in known:
        by_lower.setdefault(one.lower(), []).append(one)
    if len(wanted) <= _SHORT:
        cutoff = min(cutoff, _SHORT_CUTOFF)
    close = difflib.get_close_matches(wanted, by_lower, n=most, cutoff=cutoff)
    holding = sorted(
        (one for one in by_lower if _holds(one, wanted)),
        key=lambda one: (not one.startswith(wanted), len(one)),
    )
    found = [one for lower in dict.fromkeys([*close, *holding]) for one in by_lower[lower]]
    return found[:most]


def did_you_mean(name: object, known: Iterable[str], *, cutoff: float = _CUTOFF) -> str:
    """Return the question that ends an error, or nothing if no known name is near.

    >>> did_you_mean("Autophas", ["Autophase", "Ir"])
    'did you mean Autophase?'
    """
    found = nearest(name, known, cutoff=cutoff)
    return f"did you mean {', '.join(found)}?" if found else ""


def unknown_name(kind: str, name: object, known: Iterable[str], *, where: str = "") -> str:
    """Return the message of an error about an unknown name; `where` follows the name.

    >>> unknown_name("space", "Autophas", ["Autophase", "Ir"])
    "no space 'Autophas': did you mean Autophase?"
    >>> unknown_name("space", "Colour", ["Autophase", "Ir"])
    "no space 'Colour'; there are Autophase, Ir"
    """
    known = list(known)
    hint = did_you_mean(name, known) if isinstance(name, str) else ""
    unknown = f"no {kind} {name!r}{where and f' in {where}'}"
    rest = len(known) - _MOST_LISTED
    shown = known if rest <= 0 else [*known[:_MOST_LISTED], f"{rest:,} more"]
    return f"{unknown}: {hint}" if hint else f"{unknown}; there are {', '.join(shown)}"


def _holds(known: str, wanted: str) -> bool:
    stem = _VERSION.sub("", wanted)
    if len(stem) < _LEAST_PART:
        return len(stem) == _LEAST_PART - 1 and known.startswith(stem)
    if len(stem) == _LEAST_PART:  # three letters are inside many names by chance
        return re.search(rf"^{re.escape(stem)}|\b{re.escape(stem)}\b", known) is not None
    return wanted in known or (stem != wanted and known.startswith(stem))
