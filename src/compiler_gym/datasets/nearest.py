# SPDX-License-Identifier: MIT
"""Which known names did somebody mean? Words for the errors of datasets."""

import difflib
import re
from collections.abc import Iterable

__all__ = ["nearest_datasets", "nearest_names"]

_VERSION = re.compile(r"(-llvm\d+)?-v\d+$")
_MOST = 3


def nearest_names(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return ``did you mean ...?`` with the names of `known` that are like `name`, or nothing.

    >>> nearest_names("qsrt", ["crc32", "qsort"])
    'did you mean qsort?'
    """
    return _hint(difflib.get_close_matches(name, list(known), n=_MOST, cutoff=cutoff))


def nearest_datasets(name: str, known: Iterable[str]) -> str:
    """Return the hint for the name of a dataset: its other versions come first.

    >>> nearest_datasets("npb-v0", ["cbench-v1", "npb-llvm10-v0"])
    'did you mean npb-llvm10-v0?'
    """
    names, stem = list(known), _VERSION.sub("", name)
    same = [other for other in names if _VERSION.sub("", other) == stem]
    close = difflib.get_close_matches(name, names, n=_MOST, cutoff=0.7)
    stems = {_VERSION.sub("", other): other for other in names}
    close += [stems[s] for s in difflib.get_close_matches(stem, stems, n=_MOST, cutoff=0.75)]
    return _hint(list(dict.fromkeys([*same, *close]))[:_MOST])


def _hint(names: list[str]) -> str:
    return f"did you mean {', '.join(names)}?" if names else ""
