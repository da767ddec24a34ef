# SPDX-License-Identifier: MIT
"""Facts from assembly and object files: sizes, hashes, counts and machines.

They are read with the standard library alone, without running other programs.
"""

import functools
import hashlib
import re
import struct
from collections import Counter
from pathlib import Path

from compiler_gym.errors import SessionError

__all__ = ["digest", "instruction_counts", "runs_here", "text_size"]

_INSTRUCTION = re.compile(r"^\t(?!\.)([a-zA-Z][\w.]*)", re.MULTILINE)
_ELF_MAGIC = b"\x7fELF"
_EXECUTABLE = 0x4
_RUN_TOO = {62: 3, 183: 40}
"""The 32-bit machine whose programs a 64-bit machine also runs: x86-64 and AArch64."""
_SECTION_TYPE_NOBITS = 8


def digest(data: bytes) -> str:
    """Return the SHA-1 of `data`, 40 hexadecimal digits."""
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def instruction_counts(assembly: str) -> dict[str, int]:
    """Return the number of occurrences of each mnemonic, in alphabetical order.

    >>> instruction_counts("main:\\n\\tpushq\\t%rbp\\n\\t.cfi_startproc\\n\\tret\\n")
    {'pushq': 1, 'ret': 1}
    """
    counts = Counter(_INSTRUCTION.findall(assembly))
    return dict(sorted(counts.items()))


def text_size(contents: bytes) -> int:
    """Return the size in bytes of the code sections of an ELF object."""
    if contents[:4] != _ELF_MAGIC or len(contents) < 64:
        raise SessionError(f"not an ELF object: it begins with {contents[:4]!r}")
    wide, order = contents[4] == 2, "<" if contents[5] == 1 else ">"
    if wide:
        start, entry, count = _unpack(order + "Q10xHH", contents, 40, (0, 1, 2))
        layout = order + "IIQQQQ"
    else:
        start, entry, count = _unpack(order + "I10xHH", contents, 32, (0, 1, 2))
        layout = order + "IIIIII"
    if count == 0:  # with very many sections, the first one holds their number
        count = struct.unpack_from(layout, contents, start)[5]
    total = 0
    for number in range(count):
        _, kind, flags, _, _, size = struct.unpack_from(layout, contents, start + number * entry)
        if flags & _EXECUTABLE and kind != _SECTION_TYPE_NOBITS:
            total += size
    return total


def runs_here(contents: bytes) -> bool:
    """Return whether the ELF object or program `contents` can run on this machine."""
    here, there = _own_machine(), _machine(contents)
    return here is None or there == here or (there is not None and there == _RUN_TOO.get(here))


@functools.cache
def _own_machine() -> int | None:
    try:
        with Path("/proc/self/exe").open("rb") as program:
            return _machine(program.read(64))
    except OSError:
        return None


def _machine(contents: bytes) -> int | None:
    """Return the ELF number of the machine; None if `contents` is not an ELF file."""
    if contents[:4] != _ELF_MAGIC or len(contents) < 20:
        return None
    return struct.unpack_from("<H" if contents[5] == 1 else ">H", contents, 18)[0]


def _unpack(layout: str, data: bytes, at: int, indices: tuple[int, ...]) -> tuple[int, ...]:
    values = struct.unpack_from(layout, data, at)
    return tuple(values[index] for index in indices)
