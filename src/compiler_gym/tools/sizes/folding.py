# SPDX-License-Identifier: MIT
"""Finds functions with the same instructions, as a linker that folds identical code does."""

import numpy as np

from compiler_gym.tools.sizes.analysis import Analysis
from compiler_gym.tools.sizes.binary import Numbers

__all__ = ["count_folded"]

_INDEX_ENTRY = 8
_MOST_ROUNDS = 8
"""Functions that call folded functions may be equal then; after a few rounds none is left."""
_IS_FUNCTION = 1 << 31


def count_folded(analysis: Analysis, *, is_safe: bool) -> int | None:
    """Return the bytes of functions that equal another one, with their unwind entries.

    If `is_safe`, functions whose addresses are used stay apart. None if the code of the machine
    cannot be read.
    """
    binary, items, references = analysis.binary, analysis.items, analysis.references
    if references is None:
        return None
    source, target = items.find(references.place), items.find(references.target)
    can_fold = analysis.is_code & (items.size > 0)
    throwing = items.find(binary.offsets(binary.frames.function[binary.frames.table != 0]))
    can_fold[throwing[throwing >= 0]] = False
    if is_safe:
        pointed = items.find(references.pointers)
        can_fold[pointed[pointed >= 0]] = False
    code = np.frombuffer(binary.data, np.uint8).copy()
    moved = references.is_code & (source >= 0) & (source != target)
    place, source, target = references.place[moved], source[moved], target[moved]
    targets = references.target[moved]
    begins = (target >= 0) & (items.start[target] == targets)
    folded = np.arange(len(items.start), dtype=np.int64)
    for _ in range(_MOST_ROUNDS):
        value = np.where(begins, folded[target] | _IS_FUNCTION, targets).astype(np.uint32)
        for byte in range(4):
            code[place + byte] = (value >> np.uint32(8 * byte)).astype(np.uint8)
        before, folded = folded, _fold(items.start, items.size, can_fold, code.tobytes())
        if np.array_equal(before, folded):
            break
    is_copy = folded != np.arange(len(folded))
    ends = np.append(items.start[1:], items.start[-1:] + items.size[-1:])
    gaps = np.where(ends - items.start - items.size < 16, ends - items.start, items.size)
    unwind = analysis.unwind + _INDEX_ENTRY * (analysis.unwind > 0)
    return int((gaps + unwind)[is_copy].sum())


def _fold(start: Numbers, size: Numbers, can_fold: Numbers, code: bytes) -> Numbers:
    """Return for each item the index of the first with the same bytes."""
    folded = np.arange(len(start), dtype=np.int64)
    sizes, counts = np.unique(size[can_fold], return_counts=True)
    shared = can_fold & np.isin(size, sizes[counts > 1])
    first: dict[bytes, int] = {}
    for index in np.flatnonzero(shared).tolist():
        begin = int(start[index])
        folded[index] = first.setdefault(code[begin : begin + int(size[index])], index)
    return folded
