# SPDX-License-Identifier: MIT
"""The sizes of ELF files and their parts, and the members of archives, read without any tool.

Archives are those that ``ar`` writes.
"""

import contextlib
import os
import struct
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from compiler_gym.errors import ProjectError
from compiler_gym.files import read_regular

_ARCHIVE, _THIN = b"!<arch>\n", b"!<thin>\n"
"""The first bytes of an archive, and of a thin one, whose members are other files."""
_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
"""The first bytes of LLVM's bitcode, without and with a wrapper header."""
_LONG_NAMES = b"//"
_TABLES = (b"/", _LONG_NAMES, b"/SYM64/")


def is_archive(path: Path) -> bool:
    """Return whether the file `path` is an archive of objects, or a thin one."""
    return beginning(path, len(_ARCHIVE)) in (_ARCHIVE, _THIN)


def is_thin_archive(path: Path) -> bool:
    """Return whether the file `path` is an archive that only names its members."""
    return beginning(path, len(_THIN)) == _THIN


def is_bitcode(data: bytes) -> bool:
    """Return whether `data`, which may be cut short, is LLVM bitcode."""
    return data.startswith(_BITCODE)


def beginning(path: Path, count: int) -> bytes:
    """Return the first bytes of a regular file; empty if it does not exist."""
    try:
        if not os.path.isfile(path):  # reading from a pipe would block
            return b""
        with path.open("rb") as file:
            return file.read(count)
    except OSError:
        return b""


def read_members(path: Path) -> Iterator[tuple[str, bytes | None]]:
    """Yield the name and contents of each file in an archive; thin archives only name the files.

    The contents are None if the archive is damaged, or if a file of a thin one is missing.
    """
    data = path.read_bytes()
    if not data.startswith(_THIN):
        names = (name for name, _, _ in locate_members(data))
        yield from zip(names, iterate_members(data), strict=False)
        return
    for name, _, _ in locate_members(data):
        file = path.parent / name
        yield name, file.read_bytes() if file.is_file() else None


def iterate_members(data: bytes) -> Iterator[bytes | None]:
    """Yield the files in an archive without its tables; yield None if it is damaged or thin."""
    for _, start, size in locate_members(data):
        if start + size > len(data) or data.startswith(_THIN):
            yield None
            return
        yield data[start : start + size]


def locate_members(data: bytes) -> Iterator[tuple[str, int, int]]:
    """Yield the name, start and size of each file in an archive, without its tables.

    If the archive is damaged, the last one ends after the data.
    """
    position, long_names = len(_ARCHIVE), b""
    while position + 60 <= len(data):
        header = data[position : position + 60]
        digits = header[48:58].strip()
        size = int(digits) if digits.isdigit() else len(data)
        name, start = header[:16].rstrip(), position + 60
        position = start + size + size % 2
        if name == _LONG_NAMES:
            long_names = data[start : start + size]
        if name in _TABLES:
            continue
        if data.startswith(_THIN):
            position = start
        if name.startswith(b"#1/") and name[3:].isdigit():  # BSD: the name is in front of the file
            length = min(int(name[3:]), size)
            name = data[start : start + length].rstrip(b"\0")
            start, size = start + length, size - length
        elif name[:1] == b"/" and name[1:].isdigit():
            name = long_names[int(name[1:]) :].partition(b"\n")[0]
        yield name.removesuffix(b"/").decode(errors="replace"), start, size


_MAGIC = b"\x7fELF"
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_RELOCATION, _ENTRY = struct.Struct("<QQq"), struct.Struct("<QQ")
_SYMTAB, _DYNSYM, _FUNCTION, _NO_BITS = 2, 11, 2, 8
_ALLOCATED, _LOADABLE = 2, 1
_CODE = (
    ".text",
    ".text.hot",
    ".text.unlikely",
    ".text.startup",
    ".text.exit",
    ".text.split",
    ".text.unknown",
    ".text.cold",
    ".bolt.org.text",
)
"""Sections of linked code: linkers may separate it by how often it runs. BOLT writes cold code to
into a separate section, and keeps the old code in the file."""
_UNWINDING = (".eh_frame", ".eh_frame_hdr", ".gcc_except_table")
_STRONG, _WEAK = 1, 2
"""The bindings of a symbol that files share."""
_ABSOLUTE, _COMMON = 0xFFF1, 0xFFF2
"""The sections of symbols that are numbers, such as versions, and that are common."""
_RELOCATIONS, _DYNAMIC = 4, 6
_COPIES = (5, 1024)
"""The relocation that copies a variable of a library into a program, for x86-64 and AArch64."""
_ELSEWHERE = 0xFFFF
"""The index in the header if the real index does not fit."""
RELOCATABLE = 1
"""The type of an object file, in the header of an ELF file."""
EXECUTABLE = 2
"""The type of a program that is loaded at a fixed address."""
SHARED = 3
"""The type of a shared library or a position-independent executable."""
_FOR_LINKER = ".llvm.lto"
_DIGEST = ".compiler_gym"
"""The section in which the compiled driver stores a digest of an object."""
_DIGEST_BYTES = 8


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a linked file, in bytes."""

    text: int
    """The section ``.text`` and the sections split from it: machine code, including start-up files
    and linked-in libraries, and the old code of a file that BOLT laid out."""
    loaded: int
    """The bytes of the loadable segments: code, read-only data, data, relocations, unwind tables
    and the headers before them. For an object, which has no segments, the sections that a linker
    puts into them."""
    total: int
    """The size of the file."""


@dataclass(frozen=True, slots=True)
class _Section:
    name_at: int
    kind: int
    offset: int
    size: int
    link: int
    flags: int = 0
    name: str = ""


def is_elf(path: Path, *kinds: int) -> bool:
    """Return whether `path` is an ELF file, of one of `kinds` if any are given."""
    header = beginning(path, 18)
    kind = int.from_bytes(header[16:18], "little")
    return header[:4] == _MAGIC and (not kinds or kind in kinds)


def is_shared_library(path: Path) -> bool:
    """Return whether `path` is a shared library or a position-independent executable."""
    return is_elf(path, SHARED)


def measure_sizes(path: Path) -> Sizes:
    """Return the sizes of the linked file or object `path`; raise `ProjectError` otherwise."""
    data = _read(path)
    sections = _sections(path, data)
    text = sum(section.size for section in sections if section.name in _CODE)
    if is_elf(path, RELOCATABLE):
        loaded = sum(
            section.size
            for section in sections
            if section.flags & _ALLOCATED and section.kind != _NO_BITS
        )
        return Sizes(text, loaded, len(data))
    return Sizes(text, sum(_loadable(path, data)), len(data))


def measure_unwinding(path: Path) -> int:
    """Return the bytes of the unwind and exception tables in the ELF file `path`."""
    sections = _sections(path, _read(path))
    return sum(section.size for section in sections if section.name in _UNWINDING)


def read_code(path: Path) -> bytes:
    """Return the machine code of the linked file `path`; raise `ProjectError` if it is not ELF."""
    data = _read(path)
    sections = (part for part in _sections(path, data) if part.name in _CODE)
    return b"".join(_contents(path, data, part) for part in sections)


def find_bitcode(data: bytes) -> bytes | None:
    """Return `data` if it is bitcode, or the bitcode that lld finds in it; otherwise None."""
    if is_bitcode(data):
        return data
    if data[:4] != _MAGIC:
        return None
    path = Path("object")
    with contextlib.suppress(ProjectError):  # not an object for this machine
        parts = {part.name: part for part in _sections(path, data)}
        module, digest = parts.get(_FOR_LINKER), parts.get(_DIGEST)
        # After ``ld -r``, the section holds several modules, of which LLVM reads only the first.
        if module and (digest is None or digest.size == _DIGEST_BYTES):
            bitcode = _contents(path, data, module)
            return bitcode if is_bitcode(bitcode) else None
    return None


def function_sizes(path: Path) -> dict[str, int]:
    """Return the bytes of each function in the symbol table of `path`; empty if it is stripped."""
    sizes = dict[str, int]()
    for symbol in _symbols(path, _read(path), _SYMTAB):
        if symbol.kind == _FUNCTION and symbol.is_defined and symbol.size:
            sizes[symbol.name] = sizes.get(symbol.name, 0) + symbol.size
    return sizes


def read_exported_symbols(path: Path) -> set[str]:
    """Return the symbols that the dynamic linker finds in `path`."""
    symbols = _symbols(path, _read(path), _DYNSYM)
    return {symbol.name for symbol in symbols if symbol.is_defined and symbol.name}


def read_interface(path: Path) -> tuple[set[str], set[str]]:
    """Return the strong symbols that the linked file `path` defines for others, and the libraries
    that it needs."""
    data = _read(path)
    sections, libraries, copies = _sections(path, data), set[str](), set[int]()
    for section in sections:
        contents = (
            _contents(path, data, section) if section.kind in (_RELOCATIONS, _DYNAMIC) else b""
        )
        if section.kind == _RELOCATIONS:
            kinds = (info for _, info, _ in _RELOCATION.iter_unpack(_whole(contents, _RELOCATION)))
            copies |= {info >> 32 for info in kinds if info & 0xFFFFFFFF in _COPIES}
        elif contents:
            names = _contents(path, data, _at(path, sections, section.link))
            entries = _ENTRY.iter_unpack(_whole(contents, _ENTRY))
            libraries |= {_string_at(path, names, at) for tag, at in entries if tag == 1}
    symbols = {
        symbol.name
        for number, symbol in enumerate(_symbols(path, data, _DYNSYM))
        if symbol.binding == _STRONG
        and symbol.section not in (0, _ABSOLUTE)
        and number not in copies
    }
    return symbols, libraries


def read_needed_symbols(path: Path, members: Container[str] | None = None) -> set[str]:
    """Return the symbols of the object or archive `path` that other objects may define.

    Definitions of another object also replace weak and common ones. If `members` are given, only
    these members of the archive are read.
    """
    parts = read_members(path) if is_archive(path) else [("", _read(path))]
    return {
        symbol.name
        for name, part in parts
        if part is not None and part[:4] == _MAGIC and (members is None or name in members)
        for symbol in _symbols(path, part, _SYMTAB)
        if symbol.name and (symbol.section in (0, _COMMON) or symbol.binding == _WEAK)
    }


@dataclass(frozen=True, slots=True)
class _Symbol:
    name: str
    kind: int
    size: int
    is_defined: bool
    binding: int
    section: int


def _symbols(path: Path, data: bytes, table: int) -> Iterator[_Symbol]:
    sections = _sections(path, data)
    for section in sections:
        if section.kind == table:
            names = _contents(path, data, _at(path, sections, section.link))
            contents = _contents(path, data, section)
            for name, info, _, index, _, size in _SYMBOL.iter_unpack(_whole(contents, _SYMBOL)):
                yield _Symbol(
                    _string_at(path, names, name), info & 15, size, index != 0, info >> 4, index
                )


def _sections(path: Path, data: bytes) -> list[_Section]:
    if data[:4] != _MAGIC or data[4:6] != b"\x02\x01" or len(data) < 64:
        raise ProjectError(f"{path} is not a 64-bit little-endian ELF file")
    (offset,) = struct.unpack_from("<Q", data, 40)
    count, names_at = struct.unpack_from("<HH", data, 60)
    if offset and (count == 0 or names_at == _ELSEWHERE):
        # If the numbers do not fit into the header, the first section, a dummy, has them.
        if offset + _SECTION.size > len(data):
            raise _report_damage(path, "the section headers are cut off")
        _, _, _, _, _, large, link, *_ = _SECTION.unpack_from(data, offset)
        count, names_at = count or large, link if names_at == _ELSEWHERE else names_at
    if offset + count * _SECTION.size > len(data):
        raise _report_damage(path, "the section headers are cut off")
    headers = _SECTION.iter_unpack(data[offset : offset + count * _SECTION.size])
    sections = [
        _Section(name, kind, start, size, link, flags)
        for name, kind, flags, _, start, size, link, *_ in headers
    ]
    if not sections or names_at == 0:
        return sections
    names = _contents(path, data, _at(path, sections, names_at))
    return [replace(section, name=_string_at(path, names, section.name_at)) for section in sections]


def _loadable(path: Path, data: bytes) -> Iterator[int]:
    """Yield the size in the file of each segment that a loader maps."""
    (offset,) = struct.unpack_from("<Q", data, 32)
    (count,) = struct.unpack_from("<H", data, 56)
    if offset + count * _SEGMENT.size > len(data):
        raise _report_damage(path, "the program headers are cut off")
    for kind, _, _, _, _, size, *_ in _SEGMENT.iter_unpack(
        data[offset : offset + count * _SEGMENT.size]
    ):
        if kind == _LOADABLE:
            yield size


def _at(path: Path, sections: list[_Section], index: int) -> _Section:
    if index >= len(sections):
        raise _report_damage(path, f"it names section {index} of {len(sections)}")
    return sections[index]


def _contents(path: Path, data: bytes, section: _Section) -> bytes:
    end = section.offset + section.size
    if section.kind == _NO_BITS or end > len(data):
        raise _report_damage(path, f"a section ends at byte {end} of {len(data)}")
    return data[section.offset : end]


def _whole(contents: bytes, record: struct.Struct) -> bytes:
    return contents[: len(contents) // record.size * record.size]


def _string_at(path: Path, names: bytes, at: int) -> str:
    end = names.find(b"\0", at)
    if end < 0:
        raise _report_damage(path, f"it has no name at {at} of its {len(names)} bytes of names")
    return names[at:end].decode(errors="replace")


def _report_damage(path: Path, reason: str) -> ProjectError:
    return ProjectError(f"{path} is damaged: {reason}: build it again")


def _read(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError as error:
        raise ProjectError(f"cannot read {path}: {error.strerror}") from error
