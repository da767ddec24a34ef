# SPDX-License-Identifier: MIT
"""How large an ELF file is, and where: read from its section headers, without any tool."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.builds.archives import is_archive, members_of
from compiler_gym.errors import ProjectError

__all__ = [
    "Sizes",
    "exported_symbols",
    "function_sizes",
    "is_elf",
    "is_shared_library",
    "needed_symbols",
    "sizes_of",
]

_MAGIC = b"\x7fELF"
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMTAB, _DYNSYM, _FUNCTION = 2, 11, 2
RELOCATABLE, EXECUTABLE, SHARED = 1, 2, 3


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a linked file takes, in bytes."""

    text: int
    """Its section ``.text``: machine code, with that of the start-up files and linked-in
    libraries."""
    total: int
    """The whole file."""


@dataclass(frozen=True, slots=True)
class _Section:
    name: bytes
    kind: int
    offset: int
    size: int
    link: int


def is_elf(path: Path, *kinds: int) -> bool:
    """Return whether `path` is an ELF file, of one of `kinds` where some are given."""
    try:
        with path.open("rb") as file:
            header = file.read(18)
    except OSError:
        return False
    kind = int.from_bytes(header[16:18], "little")
    return header[:4] == _MAGIC and (not kinds or kind in kinds)


def is_shared_library(path: Path) -> bool:
    """Return whether `path` may be loaded anywhere: a library, or a program of that kind."""
    return is_elf(path, SHARED)


def sizes_of(path: Path) -> Sizes:
    """Return the sizes of the linked file `path`; raise `ProjectError` where it is none."""
    data = path.read_bytes()
    text = sum(section.size for section in _sections(path, data) if section.name == b".text")
    return Sizes(text, len(data))


def function_sizes(path: Path) -> dict[str, int]:
    """Return the bytes of each function in the symbol table of `path`; none if it is stripped."""
    found = dict[str, int]()
    for symbol in _symbols(path, path.read_bytes(), _SYMTAB):
        if symbol.kind == _FUNCTION and symbol.is_defined and symbol.size:
            found[symbol.name] = found.get(symbol.name, 0) + symbol.size
    return found


def exported_symbols(path: Path) -> set[str]:
    """Return what the dynamic linker finds in `path`: of a program, what libraries name of it."""
    symbols = _symbols(path, path.read_bytes(), _DYNSYM)
    return {symbol.name for symbol in symbols if symbol.is_defined and symbol.name}


def needed_symbols(path: Path) -> set[str]:
    """Return what the object or archive `path` needs from elsewhere."""
    data = path.read_bytes()
    parts = members_of(data) if is_archive(path) else (data,)
    return {
        symbol.name
        for part in parts
        if part is not None and part[:4] == _MAGIC
        for symbol in _symbols(path, part, _SYMTAB)
        if not symbol.is_defined and symbol.name
    }


@dataclass(frozen=True, slots=True)
class _Symbol:
    name: str
    kind: int
    size: int
    is_defined: bool


def _symbols(path: Path, data: bytes, table: int) -> Iterator[_Symbol]:
    sections = list(_sections(path, data))
    for section in sections:
        if section.kind == table:
            names = sections[section.link].offset
            for at in range(section.offset, section.offset + section.size, _SYMBOL.size):
                name, info, _, index, _, size = _SYMBOL.unpack_from(data, at)
                yield _Symbol(_text(data, names + name), info & 15, size, index != 0)


def _sections(path: Path, data: bytes) -> Iterator[_Section]:
    if data[:4] != _MAGIC or data[4:6] != b"\x02\x01" or len(data) < 64:
        raise ProjectError(f"expected a 64-bit little-endian ELF file: {path}")
    (offset,) = struct.unpack_from("<Q", data, 40)
    count, names_at = struct.unpack_from("<HH", data, 60)
    if offset + count * _SECTION.size > len(data):
        raise ProjectError(f"the section headers of {path} are cut off: build it again")
    headers = [_SECTION.unpack_from(data, offset + n * _SECTION.size) for n in range(count)]
    if not headers:
        return
    names = headers[names_at][4]
    for name, kind, _, _, start, size, link, *_ in headers:
        yield _Section(_text(data, names + name).encode(), kind, start, size, link)


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode(errors="replace")
