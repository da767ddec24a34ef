# SPDX-License-Identifier: MIT
"""How large an ELF file is, and where: read from its section headers, without any tool."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.errors import ProjectError

__all__ = ["Sizes", "function_sizes", "is_elf", "sizes_of"]

_MAGIC = b"\x7fELF"
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMTAB, _FUNCTION = 2, 2
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


def sizes_of(path: Path) -> Sizes:
    """Return the sizes of the linked file `path`; raise `ProjectError` where it is none."""
    data = path.read_bytes()
    text = sum(section.size for section in _sections(path, data) if section.name == b".text")
    return Sizes(text, len(data))


def function_sizes(path: Path) -> dict[str, int]:
    """Return the bytes of each function in the symbol table of `path`; none if it is stripped."""
    data = path.read_bytes()
    sections = list(_sections(path, data))
    found = dict[str, int]()
    for section in sections:
        if section.kind != _SYMTAB:
            continue
        names = sections[section.link]
        for at in range(section.offset, section.offset + section.size, _SYMBOL.size):
            name, info, _, index, _, size = _SYMBOL.unpack_from(data, at)
            if info & 15 == _FUNCTION and index and size:
                text = _text(data, names.offset + name)
                found[text] = found.get(text, 0) + size
    return found


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
