# SPDX-License-Identifier: MIT
"""What a linker can be told about a file that changes none of its code, with any compiler.

Nothing is decided here that protects a program: code stays apart from read-only data
(``--rosegment``, ``-z separate-code``), relocations are read-only after the start
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
"""What packs relocations."""
LAYOUT = {
    PACKED: "Packs the relocations of a program that may lie anywhere; needs glibc 2.36 or newer",
    "-Wl,--build-id=none": "Leaves the number of the build out",
    "-Wl,--hash-style=gnu": "Leaves out a second table of symbols for very old loaders",
}
"""Words for GNU ld and for lld, and what each does: what a build decides itself stays."""
NO_UNWINDING = "-fno-asynchronous-unwind-tables"
"""Only where a user allows it: a debugger and a crash report need the tables."""
FILE_MEANINGS = {
    **LAYOUT,
    NO_UNWINDING: "Leaves out the tables by which debuggers and crash reports find callers",
}
"""What each decision about a file does, by its word."""
_PACKING_LIBC = (2, 36)
"""The first glibc whose loader reads packed relocations: a file with them names it as needed,
so that an older one refuses it with a message."""


def choose_layout(binary: Binary, *, old_loaders: bool) -> list[str]:
    """Return what of `LAYOUT` is worth a try; with `old_loaders`, what those can load, too."""
    left_out = {PACKED} if old_loaders or not _loader_reads_packed() else set[str]()
    return [word for word in LAYOUT if word not in left_out and not is_requested(binary, word)]


def choose_unwinding(binary: Binary, *, is_dispensable: bool) -> list[str]:
    """Return the flag that leaves unwind tables out, where a user says that they may go.

    Raises `ProjectError` for C++ with exceptions, which need them.
    """
    if not is_dispensable:
        return []
    if binary.is_cxx and any("-fno-exceptions" not in u.command.flags for u in binary.units):
        raise ProjectError(
            f"{binary.name} is C++, whose exceptions need unwind tables: leave "
            "--no-unwind-tables out, or build with -fno-exceptions"
        )
    return [NO_UNWINDING]


def is_requested(binary: Binary, word: str) -> bool:
    """Return whether the build itself sets the option of the linker that `word` sets."""
    option = word.removeprefix("-Wl,").partition("=")[0].replace(",", " ").split()[-1]
    return any(option in own for own in (*binary.command.flags, *binary.command.link_words))


def _loader_reads_packed() -> bool:
    library, version = platform.libc_ver()
    found = tuple(int(number) for number in re.findall(r"\d+", version)[:2])
    return library == "glibc" and found >= _PACKING_LIBC
