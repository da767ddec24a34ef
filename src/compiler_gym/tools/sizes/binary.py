# SPDX-License-Identifier: MIT
"""Reads ELF files of any machine, and archives; refuses everything else with a reason.

The tables come from LLVM's reader, which checks untrusted bytes, as columns of NumPy arrays.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler_gym import _elf
from compiler_gym.builds import EXECUTABLE, RELOCATABLE, SHARED, is_bitcode, locate_members
from compiler_gym.errors import ProjectError
from compiler_gym.files import read_regular

__all__ = ["ArchiveMember", "Columns", "ElfFile", "Numbers", "read_binaries"]

Numbers = NDArray[np.int64]
_ADDRESSES = {"address", "value", "place", "target", "packed", "function", "table", "landing"}
_MOST = np.uint64(1 << 61)
"""Sizes and offsets above this are cut, so that sums do not overflow; no file reaches them."""
_ALLOCATED, _EXECUTABLE, _THREAD_LOCAL = 2, 4, 0x400
_NO_BITS, _LOADABLE = 8, 1
_CORE = 4
_SYMBOL_TABLE = 2
_DYNAMIC, _FOR_DEBUGGERS, _FLAGS, _PIE = 2, 21, 0x6FFFFFFB, 0x08000000
"""A segment, two of its tags that linkers set for programs only, and a bit of the second."""
_MACHINES = {
    3: "x86", 8: "MIPS", 20: "PowerPC", 21: "PowerPC64", 22: "s390x", 40: "ARM",
    62: "x86-64", 183: "AArch64", 243: "RISC-V", 258: "LoongArch",
}  # fmt: skip
_FOREIGN = {
    b"MZ": "a Windows program (PE): `size` reads ELF files",
    b"\xcf\xfa\xed\xfe": "a macOS file (Mach-O): `size` reads ELF files",
    b"\xca\xfe\xba\xbe": "a macOS universal file (Mach-O) or a Java class: `size` reads ELF files",
    b"\0asm": "a WebAssembly module: `size` reads ELF files",
    b"!<thin>": "a thin archive, which contains no objects: pass the objects",
    b"!<arch>": "an archive: pass it by itself",
    b"#!": "a script: pass the program that it starts",
}


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """A table of an ELF file, with the columns that `compiler_gym._elf` describes."""

    name: list[str]
    """The names of the rows, if they have names."""
    columns: Mapping[str, Numbers]

    def __getitem__(self, column: str) -> Numbers:
        return self.columns[column]


@dataclass(frozen=True, eq=False)
class ElfFile:
    """An ELF file: an executable, a shared object, or an object."""

    name: str
    data: bytes
    bits: int
    little: int
    kind: int
    machine: int
    entry: int
    header_size: int
    segments_at: int
    segments_size: int
    sections_at: int
    sections_size: int
    sections: Columns
    segments: Columns
    symbols: Columns
    relocations: Columns

    @property
    def is_linked(self) -> bool:
        """True if a linker wrote it; objects have sections but no segments."""
        return self.kind != RELOCATABLE

    @property
    def description(self) -> str:
        """The machine and the type, for people."""
        machine = _MACHINES.get(self.machine, f"machine {self.machine}")
        kinds = {RELOCATABLE: "object", EXECUTABLE: "executable", SHARED: "shared library"}
        kind = kinds.get(self.kind, f"file of type {self.kind}")
        if self.kind == SHARED and self.is_program:
            kind = "executable, position-independent"
        return f"{machine} {kind}{', stripped' if self.is_stripped else ''}"

    @property
    def is_stripped(self) -> bool:
        """True if it has no symbol table although there is code to name."""
        has_code = self.is_linked or (self.sections["size"][self.is_code] > 0).any()
        return bool(has_code) and _SYMBOL_TABLE not in self.sections["kind"]

    @property
    def is_for_linker(self) -> bool:
        """True if the linker is to generate its code, from what GCC wrote with ``-flto``."""
        names = (name for name in self.sections.name if name.startswith(".gnu.lto_.lto."))
        return any(self.contents(name)[4:5] == b"\1" for name in names)

    @cached_property
    def is_program(self) -> bool:
        """True if it was linked as a program; libraries may have an interpreter too."""
        number = np.dtype(f"{'<' if self.little else '>'}u{self.bits // 8}")
        marked = self.kind != SHARED
        for index in np.flatnonzero(self.segments["kind"] == _DYNAMIC).tolist():
            start, size = (int(self.segments[column][index]) for column in ("offset", "size"))
            entries = self.data[start : start + size]
            words = np.frombuffer(entries, number, len(entries) // number.itemsize // 2 * 2)
            tags, values = words[::2], words[1::2]
            marked |= _FOR_DEBUGGERS in tags or bool((values[tags == _FLAGS] & _PIE).any())
        return marked

    @cached_property
    def in_file(self) -> NDArray[np.bool_]:
        """For each section, whether the file contains its bytes."""
        return (self.sections["kind"] != _NO_BITS) & (self.sections["kind"] != 0)

    @cached_property
    def is_loaded(self) -> NDArray[np.bool_]:
        """For each section, whether it is loaded from the file."""
        return self.in_file & ((self.sections["flags"] & _ALLOCATED) != 0)

    @cached_property
    def is_code(self) -> NDArray[np.bool_]:
        """For each section, whether it is loaded and contains machine code."""
        return self.is_loaded & ((self.sections["flags"] & _EXECUTABLE) != 0)

    @cached_property
    def loaded_ranges(self) -> list[tuple[int, int]]:
        """The parts of the file that are loaded, in order, as starts and ends."""
        table = self.segments if self.is_linked else self.sections
        chosen = self.segments["kind"] == _LOADABLE if self.is_linked else self.is_loaded
        starts, sizes = table["offset"][chosen].tolist(), table["size"][chosen].tolist()
        ranges: list[tuple[int, int]] = []
        for start, size in sorted(zip(starts, sizes, strict=True)):
            start = max(start, ranges[-1][1]) if ranges else start
            end = min(start + size, len(self.data))
            if end > start:
                ranges.append((start, end))
        return ranges

    @cached_property
    def frames(self) -> Columns:
        """The unwind entries in ``.eh_frame`` of a linked file."""
        frames, address = self.contents(".eh_frame"), self.address(".eh_frame")
        tables = self.contents(".gcc_except_table")
        tables_at = self.address(".gcc_except_table")
        if not self.is_linked:
            frames = b""  # their addresses are relocations
        found = _elf.read_frames(frames, address, tables, tables_at, self.bits, bool(self.little))
        return _table(found)

    @cached_property
    def units(self) -> Columns:
        """The compile units, if there is debug information."""
        try:
            return _table(_elf.read_units(self.data))
        except ValueError:  # it is damaged, but not where sizes are
            return _table({"name": [], "unit": b"", "low": b"", "high": b""})

    def contents(self, name: str) -> bytes:
        """Return the bytes of the section called `name`; empty if there is none."""
        if name not in self.sections.name or not self.in_file[index := self._index(name)]:
            return b""
        start = int(self.sections["offset"][index])
        return self.data[start : start + int(self.sections["size"][index])]

    def address(self, name: str) -> int:
        """Return the address of the section called `name`, or 0."""
        if name not in self.sections.name:
            return 0
        return int(self.sections["address"][self._index(name)]) % (1 << 64)

    def offsets(self, addresses: Numbers) -> Numbers:
        """Return the place in the file of each address; -1 for those that it does not contain."""
        places = self.places(addresses)
        return np.where(places < len(self.data), places, -1)

    def places(self, addresses: Numbers) -> Numbers:
        """Return offsets, with those of zero-initialised variables after the end of the file."""
        table = self.sections
        is_zero = (table["kind"] == _NO_BITS) & ((table["flags"] & _ALLOCATED) != 0)
        is_zero &= (table["flags"] & _THREAD_LOCAL) == 0
        after = np.where(is_zero, table["size"], 0)
        base = np.where(is_zero, len(self.data) + np.cumsum(after) - after, table["offset"])
        order = np.flatnonzero((self.is_loaded | is_zero) & (table["size"] > 0))
        order = order[np.argsort(table["address"][order], kind="stable")]
        if not self.is_linked or not len(order):
            return np.full(len(addresses), -1, dtype=np.int64)
        at = np.searchsorted(table["address"][order], addresses, side="right") - 1
        section = order[np.maximum(at, 0)]
        within = addresses - table["address"][section]
        is_inside = (at >= 0) & (within >= 0) & (within < table["size"][section])
        return np.where(is_inside, base[section] + within, -1)

    def _index(self, name: str) -> int:
        return self.sections.name.index(name)


@dataclass(frozen=True, slots=True, eq=False)
class ArchiveMember:
    """A file in an archive, or the only file."""

    name: str
    size: int
    uncounted: str
    """The kind of file if its code is not counted; otherwise empty."""
    binary: ElfFile | None
    """The ELF file; None for a member that is something else."""


def read_binaries(path: Path) -> tuple[bytes, list[ArchiveMember]]:
    """Return the bytes of the file `path`, and its members if it is an archive.

    Raises `ProjectError` if the file cannot be read or is something else.
    """
    try:
        data = read_regular(path)
    except IsADirectoryError as error:
        raise ProjectError(f"{path} is a folder: pass a program, library or object") from error
    except OSError as error:
        raise ProjectError(f"cannot read {path}: {error.strerror}") from error
    if data.startswith(b"!<arch>\n"):
        return data, list(_read_members(path, data))
    if other := _name_other(data):
        raise ProjectError(f"{path} is {other}")
    return data, [_read_member(str(path), path.name, data)]


def _read_members(path: Path, data: bytes) -> Iterator[ArchiveMember]:
    for name, start, size in locate_members(data):
        if start + size > len(data):
            raise ProjectError(f"{path} is cut off in its member {name}: build it again")
        yield _read_member(f"{path}({name})", name, data[start : start + size])


def _name_other(data: bytes) -> str:
    """Return what `data` is and what to do, or nothing if it is an ELF file."""
    if not data:
        return "empty: pass a program, library or object"
    if is_bitcode(data):
        return "LLVM bitcode: link it, and pass the program"
    for magic, meaning in _FOREIGN.items():
        if data.startswith(magic):
            return meaning
    is_elf = data.startswith(b"\x7fELF")
    return "" if is_elf else "not an ELF file: pass a program, library or object"


def _read_member(path: str, name: str, data: bytes) -> ArchiveMember:
    other = _name_other(data).partition(":")[0]
    binary = None if other else _read(path, name, data)
    if binary is not None and binary.is_for_linker:
        other = "GCC's intermediate code"
    return ArchiveMember(name, len(data), other, binary)


def _read(path: str, name: str, data: bytes) -> ElfFile:
    try:
        tables = dict(_elf.read_file(data))
    except ValueError as error:
        raise ProjectError(f"{path} is damaged or cut off: {error}: build it again") from error
    for table in ("sections", "segments", "symbols", "relocations"):
        tables[table] = _table(tables[table])
    binary = ElfFile(name, data, **tables)
    _refuse(path, binary)
    return binary


def _refuse(path: str, binary: ElfFile) -> None:
    """Raise `ProjectError` if the file is ELF, but not something whose sizes mean anything."""
    if binary.kind == _CORE:
        raise ProjectError(f"{path} is a core dump: pass the program that crashed")
    if b"UPX!" in binary.data[:1024] and len(binary.sections.name) <= 1:
        raise ProjectError(f"{path} is packed by UPX: unpack it first, with `upx -d`")
    has_code = binary.is_code.any() or not binary.sections.name
    has_debug = any(name.startswith((".debug_", ".zdebug_")) for name in binary.sections.name)
    if has_debug and not has_code and (binary.sections["kind"] == _NO_BITS).any():
        raise ProjectError(f"{path} contains only split debug information: pass the program itself")
    if has_debug and all(".dwo" in name for name in binary.sections.name if "debug_" in name):
        raise ProjectError(f"{path} contains only split debug information: pass its object")


def _table(columns: dict[str, Any]) -> Columns:
    numbers = {name: _column(name, values) for name, values in columns.items() if name != "name"}
    return Columns(columns.get("name", []), numbers)


def _column(name: str, values: bytes) -> Numbers:
    numbers = np.frombuffer(values, np.uint64)
    if name in _ADDRESSES:
        return numbers.view(np.int64)
    return np.minimum(numbers, _MOST).astype(np.int64)
