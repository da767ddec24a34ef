# SPDX-License-Identifier: MIT
"""Linker options that change the layout of a file but none of its code, for any compiler.

None of these weakens the protection of a program: code stays apart from read-only data
(``--rosegment``, ``-z separate-code``), relocations are read-only after start-up
(``-z relro``), and addresses change from run to run (``-pie``).
"""

import platform
import re

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune.builds import Binary

__all__ = [
    "FILE_MEANINGS",
    "LAYOUT",
    "NO_UNWINDING",
    "PACKED",
    "choose_layout",
    "choose_unwinding",
    "is_requested",
]

PACKED = "-Wl,-z,pack-relative-relocs"
"""The flag that packs relocations."""
LAYOUT = {
    PACKED: "Packs the relocations of a position-independent file; needs glibc 2.36 or newer",
    "-Wl,--build-id=none": "Omits the build ID",
    "-Wl,--hash-style=gnu": "Omits a second symbol table for very old loaders",
}
"""Flags for GNU ld and lld, with their meanings; a build's own choices are respected."""
NO_UNWINDING = "-fno-asynchronous-unwind-tables"
"""Requires the user's permission, because debuggers and crash reports need the tables."""
FILE_MEANINGS = {
    **LAYOUT,
    NO_UNWINDING: "Omits the tables that debuggers and crash reports need to find callers",
}
"""The meaning of each flag in this module."""
_PACKING_LIBC = (2, 36)
"""The first glibc whose loader reads packed relocations. Files with them depend on this version,
so older loaders refuse them with a message."""


def choose_layout(binary: Binary, *, old_loaders: bool) -> list[str]:
    """Return the flags of `LAYOUT` to try; `old_loaders` excludes packed relocations."""
    excluded = {PACKED} if old_loaders or not _loader_reads_packed() else set[str]()
    return [flag for flag in LAYOUT if flag not in excluded and not is_requested(binary, flag)]


def choose_unwinding(binary: Binary, *, is_dispensable: bool) -> list[str]:
    """Return the flag that omits unwind tables, if `is_dispensable`.

    Raises `ProjectError` for C++ with exceptions, which need the tables.
    """
    if not is_dispensable:
        return []
    if binary.is_cxx and any("-fno-exceptions" not in u.command.flags for u in binary.units):
        raise ProjectError(
            f"{binary.name} is C++, whose exceptions need unwind tables: omit "
            "--no-unwind-tables, or build with -fno-exceptions"
        )
    return [NO_UNWINDING]


def is_requested(binary: Binary, word: str) -> bool:
    """Return whether the build itself sets the linker option of the flag `word`."""
    option = word.removeprefix("-Wl,").partition("=")[0].replace(",", " ").split()[-1]
    return any(option in text for text in (*binary.command.flags, *binary.command.link_words))


def _loader_reads_packed() -> bool:
    library, version = platform.libc_ver()
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:2])
    return library == "glibc" and numbers >= _PACKING_LIBC
