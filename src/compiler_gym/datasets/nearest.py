# SPDX-License-Identifier: MIT
"""Which known names did somebody mean? Words for the errors of datasets."""

import difflib
import re
from collections.abc import Iterable

__all__ = ["nearest_datasets", "nearest_names"]

_VERSION = re.compile(r"(-[a-z]+\d+)?-v\d+$")
"""The number of a name, and the tool of a certain version that its programs are for."""
_MOST = 3


def nearest_names(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return ``did you mean ...?`` with the names of `known` that are like `name`, or nothing.

    >>> nearest_names("qsrt", ["crc32", "qsort"])
    'did you mean qsort?'
    """
    return _hint(difflib.get_close_matches(name, list(known), n=_MOST, cutoff=cutoff))


def nearest_datasets(name: str, known: Iterable[str]) -> str:
    """Return the hint for the name of a dataset: its other versions come first.

    >>> nearest_datasets("npb-v0", ["benchmark://cbench-v1", "benchmark://npb-tool10-v0"])
    'did you mean benchmark://npb-tool10-v0?'
    """
    names = {other.partition("://")[2]: other for other in known}
    stems = {bare: _VERSION.sub("", bare) for bare in names}
    stem = _VERSION.sub("", name)
    same = [bare for bare, other in stems.items() if other == stem]
    close = difflib.get_close_matches(name, names, n=_MOST, cutoff=0.7)
    near = difflib.get_close_matches(stem, stems.values(), n=_MOST, cutoff=0.75)
    close += [bare for bare, other in stems.items() if other in near]
    return _hint([names[bare] for bare in dict.fromkeys([*same, *close])][:_MOST])


def _hint(names: list[str]) -> str:
    return f"did you mean {', '.join(names)}?" if names else ""
