# SPDX-License-Identifier: MIT
"""Finds strings in read-only data, and computes how small a linker could make them."""

import re
from collections.abc import Collection

import numpy as np

from compiler_gym.tools.sizes.analysis import Analysis

__all__ = ["list_strings", "merged_size"]

_WRITABLE, _STRINGS = 1, 0x20
_STRING = re.compile(rb"(?<![^\0])[\t\n\r\x20-\x7e]+(?=\0)")
"""A string between two zeros, or at the beginning."""


def list_strings(analysis: Analysis) -> list[bytes]:
    """Return the strings in constants outside of variables, which a linker may not merge."""
    binary, table, items = analysis.binary, analysis.binary.sections, analysis.items
    strings: list[bytes] = []
    for index in np.flatnonzero(binary.is_loaded & ~binary.is_code).tolist():
        is_text = table.name[index].startswith(".rodata") or table.flags[index] & _STRINGS
        if table.flags[index] & _WRITABLE or table.kind[index] != 1 or not is_text:
            continue
        start, end = int(table.offset[index]), int(table.offset[index] + table.size[index])
        inside = (items.start >= start) & (items.start < end)
        edges = zip(items.start[inside].tolist(), items.size[inside].tolist(), strict=True)
        for first, size in [*edges, (end, 0)]:
            strings += _STRING.findall(binary.data, start, first)
            start = first + size
    return strings


def merged_size(strings: Collection[bytes]) -> int:
    """Return the bytes of strings if equal ones, and ends of longer ones, are stored once.

    >>> merged_size([b"foobar", b"bar", b"bar", b"foo"])
    11
    """
    ends = sorted({text[::-1] for text in strings})
    return sum(
        len(text) + 1
        for text, longer in zip(ends, [*ends[1:], b""], strict=True)
        if not longer.startswith(text)
    )
