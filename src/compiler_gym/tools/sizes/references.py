# SPDX-License-Identifier: MIT
"""Finds which functions and variables of a linked file use each other, from its bytes alone.

Instructions are not decoded: every place that can hold a relative address is read as one. A wrong
guess hits a function by chance, so estimates from references are rather too low than too high.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compiler_gym.builds import SHARED
from compiler_gym.tools.sizes.binary import ElfFile, Numbers
from compiler_gym.tools.sizes.items import Items

__all__ = ["References", "find_references"]

_X86_64, _AARCH64 = 62, 183
_CHUNK = 1 << 22
_LONGEST = 16
"""More bytes than an instruction has, so that none is lost between two chunks."""
_IMMEDIATE = np.zeros(256, dtype=np.int64)
"""For an opcode of x86, the bytes of the constant after an address; 0 for most."""
_IMMEDIATE[[0x80, 0x83, 0xC0, 0xC1, 0xC6, 0x6B, 0xF6, 0xBA]] = 1
_IMMEDIATE[[0x81, 0xC7, 0x69, 0xF7]] = 4
_PAIRS = 6
"""The number of instructions of AArch64 after ``adrp`` in which its second half is searched."""


@dataclass(frozen=True, slots=True, eq=False)
class References:
    """Uses of items, by their places in the file."""

    place: Numbers
    """The offset of the address in the file."""
    target: Numbers
    """The offset in the file to which it leads; after its end for zero-initialised variables."""
    is_jump: NDArray[np.bool_]
    """True for a call or jump; otherwise the address itself is used."""
    is_code: NDArray[np.bool_]

    @property
    def pointers(self) -> Numbers:
        """The targets whose addresses are used."""
        return self.target[~self.is_jump]


def find_references(binary: ElfFile, items: Items) -> References | None:
    """Return the references in `binary`; None for machines whose code cannot be read."""
    if binary.machine not in (_X86_64, _AARCH64) or not binary.is_linked or not binary.little:
        return None
    if not len(items.start):
        return None
    scan = _scan_x86 if binary.machine == _X86_64 else _scan_aarch64
    places: list[Numbers] = []
    targets: list[Numbers] = []
    jumps: list[NDArray[np.bool_]] = []
    sections = binary.sections
    for index in np.flatnonzero(binary.is_code).tolist():
        start, size = int(sections["offset"][index]), int(sections["size"][index])
        code = np.frombuffer(binary.data, np.uint8)[start : start + size]
        address = int(sections["address"][index])
        for place, target, is_jump in scan(code, address, is_fixed=binary.kind != SHARED):
            target = binary.places(target)
            keep = target >= 0
            places.append(place[keep] + start)
            targets.append(target[keep])
            jumps.append(np.full(int(keep.sum()), is_jump, dtype=np.bool_))
    count = sum(map(len, places))
    place, target = _find_pointers(binary)
    target = np.concatenate((*targets, target))
    is_jump = np.concatenate((*jumps, np.zeros(len(place), dtype=np.bool_)))
    item = items.find(target)
    is_function = (item >= 0) & binary.is_code[items.section[item]]
    # Nothing points into a function, so this is a wrong guess.
    keep = is_jump | ~is_function | (target == items.start[item])
    is_code = np.arange(len(target)) < count
    place = np.concatenate((*places, place))
    return References(place[keep], target[keep], is_jump[keep], is_code[keep])


def _scan_x86(
    code: NDArray[np.uint8], address: int, *, is_fixed: bool
) -> Iterator[tuple[Numbers, Numbers, bool]]:
    """Yield places, the addresses there, and whether calls or jumps use them."""
    for start in range(0, len(code), _CHUNK):
        piece = code[start : start + _CHUNK + _LONGEST]
        usable = min(len(piece) - 4, _CHUNK + 1)
        if usable < 2:
            return
        first, second = piece[:usable], piece[1 : usable + 1]
        calls = np.flatnonzero((first & 0xFE) == 0xE8) + 1
        branches = np.flatnonzero((first == 0x0F) & ((second & 0xF0) == 0x80)) + 2
        relative = np.flatnonzero((first & 0xC7) == 0x05) + 1
        relative = relative[relative >= 2]
        after = _IMMEDIATE[piece[relative - 2]]
        for at, extra, is_jump in ((calls, 0, True), (branches, 0, True), (relative, after, False)):
            keep = at + 4 <= len(piece)
            at, extra = at[keep], extra[keep] if isinstance(extra, np.ndarray) else extra
            yield start + at, address + start + at + 4 + extra + _words(piece, at), is_jump
        if is_fixed:  # an address may stand anywhere in an instruction
            at = np.arange(usable, dtype=np.int64)
            yield start + at, _words(piece, at) & 0xFFFFFFFF, False


def _words(code: NDArray[np.uint8], at: Numbers) -> Numbers:
    """Return the signed words of 32 bits at the offsets `at`."""
    word = np.zeros(len(at), dtype=np.uint32)
    for byte in range(4):
        word |= code[at + byte].astype(np.uint32) << np.uint32(8 * byte)
    return word.view(np.int32).astype(np.int64)


def _scan_aarch64(
    code: NDArray[np.uint8], address: int, *, is_fixed: bool
) -> Iterator[tuple[Numbers, Numbers, bool]]:
    words = np.frombuffer(code[: len(code) // 4 * 4].tobytes(), np.uint32).astype(np.int64)
    at = np.flatnonzero((words & 0x7C000000) == 0x14000000)
    far = ((words[at] & 0x3FFFFFF) ^ 0x2000000) - 0x2000000
    yield at * 4, address + at * 4 + far * 4, True
    adr = np.flatnonzero((words & 0x1F000000) == 0x10000000)
    value = ((words[adr] >> 5 & 0x7FFFF) << 2) | (words[adr] >> 29 & 3)
    value = (value ^ 0x100000) - 0x100000
    is_page = words[adr] >> 31 != 0
    here = address + adr * 4
    base = np.where(is_page, (here & -4096) + (value << 12), here + value)
    yield adr[~is_page] * 4, base[~is_page], False
    adr, base = adr[is_page], base[is_page]
    for distance in range(1, _PAIRS):
        fits = adr + distance < len(words)
        word = words[adr[fits] + distance]
        same = (word >> 5 & 31) == (words[adr[fits]] & 31)
        offset = word >> 10 & 0xFFF
        adds = same & ((word & 0xFFC00000) == 0x91000000)
        loads = same & ((word & 0x3F000000) == 0x39000000)
        offset = np.where(loads, offset << (word >> 30 & 3), offset)
        found = adds | loads
        yield adr[fits][found] * 4, (base[fits] + offset)[found], False


def _find_pointers(binary: ElfFile) -> tuple[Numbers, Numbers]:
    """Return the places of addresses in data, and their targets, as offsets in the file."""
    relocations = binary.relocations
    packed = binary.offsets(relocations["packed"])
    packed = packed[(packed >= 0) & (packed + 8 <= len(binary.data))]
    places = [binary.offsets(relocations["place"]), packed]
    targets = [relocations["target"], _pointers_at(binary, packed)]
    if binary.kind != SHARED:  # nothing marks them
        for index in np.flatnonzero(binary.is_loaded & ~binary.is_code).tolist():
            if binary.sections.name[index].startswith((".eh_frame", ".rela", ".dynsym", ".symtab")):
                continue
            start, step = int(binary.sections["offset"][index]), binary.bits // 8
            start += -start % step
            end = min(start + int(binary.sections["size"][index]), len(binary.data))
            place = np.arange(start, end - step + 1, step, dtype=np.int64)
            places.append(place)
            targets.append(_pointers_at(binary, place))
    place, target = np.concatenate(places), binary.places(np.concatenate(targets))
    keep = (target >= 0) & (place >= 0)
    return place[keep], target[keep]


def _pointers_at(binary: ElfFile, places: Numbers) -> Numbers:
    """Return the pointers of 64 bits at offsets in the file."""
    data = np.frombuffer(binary.data, np.uint8)
    low, high = _words(data, places), _words(data, places + 4)
    return (low & 0xFFFFFFFF) | (high << 32)
