# SPDX-License-Identifier: MIT
"""Finds functions with the same instructions, as a linker that folds identical code does."""

import numpy as np
from numpy.typing import NDArray

from compiler_gym.tools.sizes.analysis import Analysis
from compiler_gym.tools.sizes.binary import Numbers

__all__ = ["count_folded"]

_INDEX_ENTRY = 8
_IS_FUNCTION = 1 << 31


def count_folded(analysis: Analysis, *, is_safe: bool) -> int | None:
    """Return the bytes of functions that equal another one, with their unwind entries.

    If `is_safe`, functions whose addresses are used stay apart. None if the code of the machine
    cannot be read.
    """
    binary, items, references = analysis.binary, analysis.items, analysis.references
    if references is None or not len(items.start):
        return None
    can_fold = analysis.is_code.copy()
    can_fold[_drop_missing(items.find(binary.offsets(_throwing(analysis))))] = False
    if is_safe:
        can_fold[_drop_missing(items.find(references.pointers))] = False
    folded = _fold(analysis, can_fold)
    is_copy = folded != np.arange(len(folded))
    unwind = analysis.unwind + _INDEX_ENTRY * (analysis.unwind > 0)
    return int((items.padded_size + unwind)[is_copy].sum())


def _throwing(analysis: Analysis) -> Numbers:
    frames = analysis.binary.frames
    return frames["function"][frames["table"] != 0]


def _drop_missing(items: Numbers) -> Numbers:
    return items[items >= 0]


def _fold(analysis: Analysis, can_fold: NDArray[np.bool_]) -> Numbers:
    """Return for each item the index of the first that equals it."""
    items, references = analysis.items, analysis.references
    assert references is not None, "the caller checks the machine"
    sizes, counts = np.unique(items.size[can_fold], return_counts=True)
    can_fold = can_fold & np.isin(items.size, sizes[counts > 1])
    source, target = items.find(references.place), items.find(references.target)
    moved = references.is_code & (source >= 0) & (source != target)
    moved[moved] = can_fold[source[moved]]
    place, source, target = references.place[moved], source[moved], target[moved]
    targets = references.target[moved]
    begins = (target >= 0) & (items.start[target] == targets)
    memory = bytearray(analysis.binary.data)
    code, view = np.frombuffer(memory, np.uint8), memoryview(memory)
    folded = np.arange(len(items.start), dtype=np.int64)
    first: dict[bytes, int] = {}
    changed = can_fold
    while changed.any():
        before = folded.copy()
        value = np.where(begins, folded[target] | _IS_FUNCTION, targets).astype(np.uint32)
        for byte in range(4):
            code[place + byte] = (value >> np.uint32(8 * byte)).astype(np.uint8)
        for index in np.flatnonzero(changed).tolist():
            start = int(items.start[index])
            body = bytes(view[start : start + int(items.size[index])])
            folded[index] = first.setdefault(body, index)
        # A function that uses a folded one may equal another now.
        changed = np.zeros(len(folded), dtype=np.bool_)
        changed[source[begins & (folded[target] != before[target])]] = True
        changed &= folded == np.arange(len(folded))
    return folded
