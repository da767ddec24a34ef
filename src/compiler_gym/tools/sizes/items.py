# SPDX-License-Identifier: MIT
"""Lists the functions and variables in a file, as ranges that do not overlap."""

from dataclasses import dataclass

import numpy as np

from compiler_gym.tools.sizes.binary import ElfFile, Numbers

__all__ = ["Items", "list_items", "measure_unwinding", "spread"]

_SECTION, _SOURCE = 3, 4
"""The kinds of symbols that are neither functions nor variables."""
_POWERPC64, _ARM = 21, 40
_ALIGNMENT = 16
"""A gap that is smaller is padding."""


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Functions and variables that do not overlap, in the order of the file."""

    start: Numbers
    """The offset in the file."""
    size: Numbers
    section: Numbers
    symbol: Numbers
    """The index of the symbol, or -1 for a function without one."""

    @property
    def padded_size(self) -> Numbers:
        """The size of each item with the padding after it."""
        gaps = np.append(self.start[1:], self.start[-1:] + self.size[-1:]) - self.start - self.size
        return self.size + np.where(gaps < _ALIGNMENT, gaps, 0)

    def find(self, places: Numbers) -> Numbers:
        """Return the index of the item at each offset in the file, or -1."""
        if not len(self.start):
            return np.full(len(places), -1, dtype=np.int64)
        at = np.searchsorted(self.start, places, side="right") - 1
        index = np.maximum(at, 0)
        inside = (at >= 0) & (places < self.start[index] + self.size[index])
        return np.where(inside, at, -1)


def list_items(binary: ElfFile) -> Items:
    """Return the functions and variables that `binary` loads from the file.

    Functions without a symbol are found with their unwind entries.
    """
    symbols, sections = binary.symbols, binary.sections
    section = np.where(symbols["section"] < len(sections.name), symbols["section"], 0)
    is_named = (symbols["kind"] != _SECTION) & (symbols["kind"] != _SOURCE)
    chosen = is_named & (section > 0) & (symbols["size"] > 0) & binary.is_loaded[section]
    value = symbols["value"] & -2 if binary.machine == _ARM else symbols["value"]
    within = value - (sections["address"][section] if binary.is_linked else 0)
    chosen &= (within >= 0) & (within < sections["size"][section])
    index = np.flatnonzero(chosen)
    start = sections["offset"][section[index]] + within[index]
    if binary.machine == _POWERPC64 and ".opd" in sections.name and len(index):
        start = _follow_descriptors(binary, start)
        section[index] = _sections_at(binary, start)
    frames = binary.frames
    places = binary.offsets(frames["function"])
    is_placed = places >= 0
    start = np.concatenate((start, places[is_placed]))
    size = np.concatenate((symbols["size"][index], frames["function_size"][is_placed]))
    symbol = np.concatenate((index, np.full(int(is_placed.sum()), -1)))
    owner = np.concatenate((section[index], _sections_at(binary, places[is_placed])))
    return _separate(Items(start, size, owner, symbol), len(binary.data))


def _follow_descriptors(binary: ElfFile, start: Numbers) -> Numbers:
    """Return offsets, with those of code instead of descriptors in ``.opd``.

    In the first ABI of PowerPC64, functions are named where their address is stored.
    """
    sections, symbols, opd = binary.sections, binary.symbols, binary.sections.name.index(".opd")
    words = _words(binary, ".opd", 1)[:, 0]
    if binary.is_linked:
        place = binary.relocations["place"] - binary.address(".opd")
        code, target = binary.offsets(words), binary.offsets(binary.relocations["target"])
    else:
        code = np.full(len(words), -1)
        place, info, addend = _words(binary, ".rela.opd", 3).T
        symbol = np.clip((info >> 32) - 1, 0, len(symbols.name) - 1)
        section = np.clip(symbols["section"][symbol], 0, len(sections.name) - 1)
        target = sections["offset"][section] + symbols["value"][symbol] + addend
    known = (place >= 0) & (place // 8 < len(words))
    code[place[known] // 8] = target[known]
    at = (start - sections["offset"][opd]) // 8
    found = np.append(code, -1)[np.where((at >= 0) & (at < len(words)), at, -1)]
    return np.where(found >= 0, found, start)


def _words(binary: ElfFile, name: str, count: int) -> Numbers:
    """Return the rows of a section, each of `count` numbers with 64 bits."""
    contents = binary.contents(name)
    number = np.dtype("<i8" if binary.little else ">i8")
    words = np.frombuffer(contents, number, len(contents) // 8 // count * count)
    return words.astype(np.int64).reshape(-1, count)


def _sections_at(binary: ElfFile, places: Numbers) -> Numbers:
    order = np.flatnonzero(binary.is_loaded & (binary.sections["size"] > 0))
    order = order[np.argsort(binary.sections["offset"][order], kind="stable")]
    if not len(order):
        return np.zeros(len(places), dtype=np.int64)
    at = np.searchsorted(binary.sections["offset"][order], places, side="right") - 1
    return order[np.maximum(at, 0)]


def _separate(items: Items, end: int) -> Items:
    """Sort items, and cut those that begin within an earlier one."""
    order = np.lexsort((items.symbol < 0, -items.size, items.start))
    start, size = items.start[order], items.size[order]
    ends = np.minimum(start + size, end)
    before = np.concatenate(([0], np.maximum.accumulate(ends)[:-1])) if len(ends) else ends
    start = np.maximum(start, before)
    left = ends > start
    order = order[left]
    return Items(start[left], (ends - start)[left], items.section[order], items.symbol[order])


def measure_unwinding(binary: ElfFile, items: Items) -> Numbers:
    """Return the bytes of the unwind entry of each item."""
    unwind = np.zeros(len(items.start), dtype=np.int64)
    owner = items.find(binary.offsets(binary.frames["function"]))
    np.add.at(unwind, owner[owner >= 0], binary.frames["size"][owner >= 0])
    return unwind


def spread(starts: Numbers, sizes: Numbers) -> Numbers:
    """Return all indices of ranges that have a size.

    >>> spread(np.array([1, 7]), np.array([2, 3]))
    array([1, 2, 7, 8, 9])
    """
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()), dtype=np.int64)
