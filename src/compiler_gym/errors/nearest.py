# SPDX-License-Identifier: MIT
"""Suggestions for unknown names, computed the same way for every kind of name.

A known name is near if the unknown one is a misspelling (``srao``), differs only in letter case,
is a part of it (``autoph``), or matches except for the version (``npb-v0`` for
``npb-llvm10-v0``).
"""

import difflib
import re
from collections.abc import Iterable

__all__ = ["did_you_mean", "nearest", "unknown_name"]

_MOST_NAMES = 3
_MOST_LISTED = 40
_LEAST_PART = 3
"""The shortest part of a name that counts as a match; one letter less suffices at its start."""
_CUTOFF = 0.7
_SHORT, _SHORT_CUTOFF = 3, 0.6
"""Lower cutoff for short names: two swapped letters (``gnv``) are a third of the name."""
_VERSION = re.compile(r"-v\d+$")


def nearest(
    name: object, known: Iterable[str], *, most: int = _MOST_NAMES, cutoff: float = _CUTOFF
) -> list[str]:
    """Return up to `most` of the `known` names that resemble `name`, nearest first.

    `cutoff` is the required similarity, from 0 to 1.

    >>> nearest("autofase", ["Ir", "Autophase"]), nearest("irsha", ["IrSha1", "Ir"])
    (['Autophase'], ['IrSha1'])
    """
    target = str(name).lower()
    by_lower: dict[str, list[str]] = {}
    for candidate in known:
        by_lower.setdefault(candidate.lower(), []).append(candidate)
    if len(target) <= _SHORT:
        cutoff = min(cutoff, _SHORT_CUTOFF)
    close = difflib.get_close_matches(target, by_lower, n=most, cutoff=cutoff)
    holding = sorted(
        (candidate for candidate in by_lower if _holds(candidate, target)),
        key=lambda candidate: (not candidate.startswith(target), len(candidate)),
    )
    names = [name for lower in dict.fromkeys([*close, *holding]) for name in by_lower[lower]]
    return names[:most]


def did_you_mean(name: object, known: Iterable[str], *, cutoff: float = _CUTOFF) -> str:
    """Return a question to end an error message, or an empty text if no known name is near.

    >>> did_you_mean("Autophas", ["Autophase", "Ir"])
    'did you mean Autophase?'
    """
    candidates = nearest(name, known, cutoff=cutoff)
    return f"did you mean {', '.join(candidates)}?" if candidates else ""


def unknown_name(kind: str, name: object, known: Iterable[str], *, where: str = "") -> str:
    """Return the message of an error about an unknown name; `where` follows the name.

    >>> unknown_name("space", "Autophas", ["Autophase", "Ir"])
    "no space 'Autophas': did you mean Autophase?"
    >>> unknown_name("space", "Colour", ["Autophase", "Ir"])
    "no space 'Colour'; there are Autophase, Ir"
    >>> unknown_name("policy", "fast", ["size"])
    "no policy 'fast'; there is size"
    """
    known = list(known)
    hint = did_you_mean(name, known) if isinstance(name, str) else ""
    unknown = f"no {kind} {name!r}{where and f' in {where}'}"
    hidden = len(known) - _MOST_LISTED
    listed = known if hidden <= 0 else [*known[:_MOST_LISTED], f"{hidden:,} more"]
    verb = "is" if len(known) == 1 else "are"
    return f"{unknown}: {hint}" if hint else f"{unknown}; there {verb} {', '.join(listed)}"


def _holds(known: str, target: str) -> bool:
    stem = _VERSION.sub("", target)
    if len(stem) < _LEAST_PART:
        return len(stem) == _LEAST_PART - 1 and known.startswith(stem)
    if len(stem) == _LEAST_PART:  # three letters are inside many names by chance
        return re.search(rf"^{re.escape(stem)}|\b{re.escape(stem)}\b", known) is not None
    return target in known or (stem != target and known.startswith(stem))
