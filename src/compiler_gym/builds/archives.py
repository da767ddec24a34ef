# SPDX-License-Identifier: MIT
"""Read Unix archives of objects, as ``ar`` writes them."""

import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["beginning", "is_archive", "is_bitcode", "iterate_members"]

_MAGIC = b"!<arch>\n"
_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
"""The first bytes of LLVM's bitcode, without and with a wrapper header."""
_TABLES = (b"/", b"//", b"/SYM64/")


def is_archive(path: Path) -> bool:
    """Return whether the file `path` is an archive of objects."""
    return beginning(path, len(_MAGIC)) == _MAGIC


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


def iterate_members(data: bytes) -> Iterator[bytes | None]:
    """Yield the files in an archive without its tables; yield None if it is damaged."""
    position = len(_MAGIC)
    while position + 60 <= len(data):
        header = data[position : position + 60]
        digits = header[48:58].strip()
        size = int(digits) if digits.isdigit() else len(data)
        start = position + 60
        if start + size > len(data):
            yield None
            return
        if header[:16].rstrip() not in _TABLES:
            yield data[start : start + size]
        position = start + size + size % 2
