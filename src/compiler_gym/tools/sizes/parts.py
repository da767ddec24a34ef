# SPDX-License-Identifier: MIT
"""Assigns every byte of a file to one part: code, strings, relocations, padding and so on.

Parts are painted on an array with one element per byte, so they add up to the size of the file
even if its headers contradict each other.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from compiler_gym.tools.sizes.binary import ElfFile, Numbers
from compiler_gym.tools.sizes.items import Items, spread

__all__ = ["Part", "PartSize", "find_runs", "measure_parts", "part_of_section"]

Bytes = NDArray[np.uint8]
_CHUNK = 1 << 22
_LEAST_TEXT = 4
"""The shortest run of printable characters that counts as a string."""
_LARGEST_PAGE = 1 << 16
"""Linkers leave gaps up to the size of a page; more than this was put there on purpose."""
_LOADABLE = 1
_WRITABLE, _ALLOCATED, _EXECUTABLE, _STRINGS = 1, 2, 4, 0x20
_PRINTABLE = np.zeros(256, dtype=np.bool_)
_PRINTABLE[[9, 10, 13, *range(32, 127)]] = True


class Part(Enum):
    """The parts of a file, in the order of reports; the values are their names."""

    CODE = "code"
    LINKAGE = "calls between files"
    UNWIND = "unwind entries"
    EXCEPTIONS = "exception tables"
    RELOCATIONS = "relocations"
    STRINGS = "strings"
    CONSTANTS = "constants"
    DATA = "data"
    RUNTIME = "tables of Go"
    NAMES = "symbol names"
    SYMBOLS = "symbol tables"
    DEBUG = "debug information"
    BITCODE = "compiler's intermediate code"
    NOTES = "notes"
    HEADERS = "headers"
    PADDING = "padding"
    OTHER = "other"


_PARTS = list(Part)
_RULES = [
    (Part.DEBUG, r"\.z?debug_|\.stab|\.gdb_index|\.gnu_debug|\.line$|\.rela?\.z?debug"),
    (Part.UNWIND, r"\.eh_frame|\.ARM\.exidx|\.rela?\.eh_frame$|\.sframe"),
    (Part.EXCEPTIONS, r"\.gcc_except_table|\.ARM\.extab"),
    (Part.BITCODE, r"\.llvm(bc|cmd|\.lto|_)|\.gnu\.(debug)?lto_"),
    (Part.RUNTIME, r"\.gopclntab|\.gosymtab|\.typelink|\.itablink|\.go\.buildinfo"),
    (Part.LINKAGE, r"\.plt|\.got|\.iplt|\.igot"),
    (Part.NOTES, r"\.note|\.comment|\.interp|\.ARM\.attributes|\.riscv\.attributes|\.llvm_addrsig"),
    (Part.HEADERS, r"\.shstrtab|\.group"),
    (Part.NAMES, r"\.dynstr|\.strtab"),
    (Part.SYMBOLS, r"\.(gnu\.)?hash|\.gnu\.version|\.dynamic$|\.dynsym|\.symtab"),
]
"""Patterns of the names of sections whose contents do not depend on their flags."""
_BY_NAME = [(part, re.compile(pattern)) for part, pattern in _RULES]
_BY_KIND = {
    2: Part.SYMBOLS, 3: Part.NAMES, 4: Part.RELOCATIONS, 5: Part.SYMBOLS, 6: Part.SYMBOLS,
    7: Part.NOTES, 9: Part.RELOCATIONS, 11: Part.SYMBOLS, 17: Part.HEADERS, 18: Part.SYMBOLS,
    19: Part.RELOCATIONS, 0x60000001: Part.RELOCATIONS, 0x60000002: Part.RELOCATIONS,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PartSize:
    """The bytes of a part."""

    loaded: int = 0
    """The bytes that are loaded into memory."""
    total: int = 0
    """The bytes in the file."""

    def __add__(self, other: "PartSize") -> "PartSize":
        return PartSize(self.loaded + other.loaded, self.total + other.total)


def measure_parts(binary: ElfFile, items: Items) -> Mapping[Part, PartSize]:
    """Return the size of each part of `binary` that has one; they add up to the file."""
    painted = _paint(binary, items)
    total = _count(painted, [(0, len(painted))])
    loaded = _count(painted, binary.loaded_ranges)
    return {
        part: PartSize(int(loaded[index]), int(total[index]))
        for index, part in enumerate(_PARTS)
        if total[index]
    }


def _paint(binary: ElfFile, items: Items) -> Bytes:
    """Return the index in `Part` of each byte of the file."""
    unknown = len(_PARTS)
    painted = np.full(len(binary.data), unknown, dtype=np.uint8)
    _paint_segments(binary, painted)
    _paint_sections(binary, painted)
    _paint_code_gaps(binary, items, painted)
    for start, size in (
        (0, binary.header_size),
        (binary.segments_at, binary.segments_size),
        (binary.sections_at, binary.sections_size),
    ):
        painted[start : start + size] = _PARTS.index(Part.HEADERS)
    _paint_gaps(binary.data, painted, unknown)
    return painted


def _paint_segments(binary: ElfFile, painted: Bytes) -> None:
    """Paint the segments of a file without section headers."""
    if len(binary.sections.name) > 1 or not binary.is_linked:
        return
    table = binary.segments
    for index in np.flatnonzero(table["kind"] == _LOADABLE).tolist():
        start, size, flags = (int(table[name][index]) for name in ("offset", "size", "flags"))
        part = Part.CODE if flags & 1 else Part.DATA if flags & 2 else Part.CONSTANTS
        painted[start : start + size] = _PARTS.index(part)


def _paint_sections(binary: ElfFile, painted: Bytes) -> None:
    table = binary.sections
    for index in np.flatnonzero(binary.in_file & (table["size"] > 0)).tolist():
        start, size = int(table["offset"][index]), int(table["size"][index])
        part = part_of_section(binary, index)
        painted[start : start + size] = _PARTS.index(part)
        if part is Part.CONSTANTS:
            _paint_strings(binary.data, painted, start, size)


def part_of_section(binary: ElfFile, index: int) -> Part:
    """Return the part to which most of a section belongs."""
    table = binary.sections
    name, kind, flags = table.name[index], int(table["kind"][index]), int(table["flags"][index])
    for part, pattern in _BY_NAME:
        if pattern.match(name):
            return part
    if kind in _BY_KIND:
        return _BY_KIND[kind]
    if not flags & _ALLOCATED:
        return Part.STRINGS if flags & _STRINGS else Part.OTHER
    if flags & _EXECUTABLE:
        return Part.CODE
    if flags & _WRITABLE:
        return Part.DATA
    return Part.CONSTANTS


def _paint_strings(data: bytes, painted: Bytes, start: int, size: int) -> None:
    """Paint runs of printable characters, with the zero after them."""
    contents = np.frombuffer(data, np.uint8)[start : start + size]
    starts = is_text = _PRINTABLE[contents]
    for _ in range(_LEAST_TEXT - 1):  # where so many characters follow each other
        starts = starts[:-1] & is_text[len(is_text) - len(starts) + 1 :]
    is_text = np.zeros(len(contents), dtype=np.bool_)
    for at in range(_LEAST_TEXT if len(starts) else 0):
        is_text[at : at + len(starts)] |= starts
    is_text[1:] |= is_text[:-1] & (contents[1:] == 0)
    painted[start : start + size][is_text] = _PARTS.index(Part.STRINGS)


def _paint_code_gaps(binary: ElfFile, items: Items, painted: Bytes) -> None:
    """Paint the gaps between functions that are smaller than their alignment."""
    table = binary.sections
    if not len(items.start):
        return
    ends = items.start + items.size
    gaps = items.start[1:] - ends[:-1]
    same = items.section[1:] == items.section[:-1]
    alignment = np.clip(table["alignment"][items.section[1:]], 0, 64)
    small = same & (gaps > 0) & (gaps < alignment) & binary.is_code[items.section[1:]]
    painted[spread(ends[:-1][small], gaps[small])] = _PARTS.index(Part.PADDING)


def _paint_gaps(data: bytes, painted: Bytes, unknown: int) -> None:
    """Paint what no header claims: gaps are padding, bytes after the last section are not."""
    starts, sizes = find_runs(painted == unknown)
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        is_zero = not data[start : start + size].strip(b"\0")
        is_padding = start + size < len(painted) and (size <= _LARGEST_PAGE or is_zero)
        part = Part.PADDING if is_padding else Part.OTHER
        painted[start : start + size] = _PARTS.index(part)


def find_runs(mask: NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
    """Return the starts and sizes of the runs of true values.

    >>> find_runs(np.array([True, True, False, True]))
    (array([0, 3]), array([2, 1]))
    """
    edges = np.flatnonzero(mask[1:] != mask[:-1]) + 1
    if len(mask) and mask[0]:
        edges = np.concatenate(([0], edges))
    if len(edges) % 2:
        edges = np.concatenate((edges, [len(mask)]))
    edges = edges.astype(np.int64)
    return edges[::2], edges[1::2] - edges[::2]


def _count(painted: Bytes, ranges: list[tuple[int, int]]) -> Numbers:
    counts = np.zeros(len(_PARTS), dtype=np.int64)
    for start, end in ranges:
        for at in range(start, end, _CHUNK):  # counting makes a copy eight times as large
            piece = painted[at : min(at + _CHUNK, end)]
            counts += np.bincount(piece, minlength=len(_PARTS))
    return counts
