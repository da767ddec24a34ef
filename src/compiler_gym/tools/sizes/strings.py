# SPDX-License-Identifier: MIT
"""Finds strings in read-only data, and computes how small a linker could make them."""

import re
from collections.abc import Collection
from itertools import zip_longest

import numpy as np

from compiler_gym.tools.sizes.analysis import Analysis

__all__ = ["list_strings", "measure_merged"]

_WRITABLE = 1
_STRING = re.compile(rb"[\t\n\r\x20-\x7e]+(?=\0)")


def list_strings(analysis: Analysis) -> list[bytes]:
    """Return the strings that something refers to, without those in named variables.

    Strings that are already the end of another one are left out. Empty for machines whose
    references cannot be read.
    """
    binary, items, references = analysis.binary, analysis.items, analysis.references
    if references is None:
        return []
    table = binary.sections
    strings: list[bytes] = []
    targets = np.unique(references.pointers)
    targets = targets[items.find(targets) < 0]
    read_only = binary.is_loaded & ~binary.is_code & ((table["flags"] & _WRITABLE) == 0)
    for index in np.flatnonzero(read_only & (table["kind"] == 1)).tolist():
        start, end = int(table["offset"][index]), int(table["offset"][index] + table["size"][index])
        for target in targets[(targets >= start) & (targets < end)].tolist():
            if target < start:  # within the last string
                continue
            if match := _STRING.match(binary.data, target, end):
                strings.append(match[0])
                start = match.end()
    return strings


def measure_merged(strings: Collection[bytes]) -> int:
    """Return the bytes of strings if equal ones, and ends of longer ones, are stored once.

    >>> measure_merged([b"foobar", b"bar", b"bar", b"foo"])
    11
    """
    ends = sorted({text[::-1] for text in strings})
    return sum(
        len(text) + 1
        for text, longer in zip_longest(ends, ends[1:])
        if longer is None or not longer.startswith(text)
    )
