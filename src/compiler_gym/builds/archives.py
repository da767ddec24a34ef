# SPDX-License-Identifier: MIT
"""Read Unix archives of objects, as ``ar`` writes them."""

import os
from collections.abc import Iterator
from pathlib import Path

__all__ = [
    "beginning", "is_archive", "is_bitcode", "is_thin_archive", "iterate_members",
    "locate_members", "read_members",
]  # fmt: skip

_MAGIC, _THIN = b"!<arch>\n", b"!<thin>\n"
"""The first bytes of an archive, and of a thin one, whose members are other files."""
_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
"""The first bytes of LLVM's bitcode, without and with a wrapper header."""
_LONG_NAMES = b"//"
_TABLES = (b"/", _LONG_NAMES, b"/SYM64/")


def is_archive(path: Path) -> bool:
    """Return whether the file `path` is an archive of objects, or a thin one."""
    return beginning(path, len(_MAGIC)) in (_MAGIC, _THIN)


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
    position, long_names = len(_MAGIC), b""
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
