# SPDX-License-Identifier: MIT
"""Linker options that change the layout of a file but none of its code, for any compiler.

None of these weakens the protection of a program: code stays apart from read-only data
(``--rosegment``, ``-z separate-code``), relocations are read-only after start-up
(``-z relro``), and addresses change from run to run (``-pie``).
"""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from compiler_gym.builds import CompilerCommand
from compiler_gym.errors import ProjectError
from compiler_gym.files import read_regular
from compiler_gym.tools.tune.builds import Binary

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
_LIBC = "libc.so.6"
"""The file name of glibc, and of no other C library."""
_READS_PACKED = b"\0GLIBC_ABI_DT_RELR\0"
"""The version that glibc has defined since it reads packed relocations. Linked files with them need
this version, so an older glibc refuses them with a message; an older musl would crash."""
_NO_DEFAULTS, _C_LIBRARY = "-nodefaultlibs", "-lc"
"""rustc names every library itself, the C library included."""
_NEVER_PACKED = ("-static", "--static", "-static-pie", "-no-pie", "-nopie", "-nolibc", "-nostdlib",
                 _NO_DEFAULTS, "-r")  # fmt: skip
"""Flags of links without relative relocations, or without a C library that could refuse them."""
_DECIDED = ("pack-relative-relocs", "pack-dyn-relocs")
"""Parts of flags with which a build decides about packed relocations itself."""
_SECONDS = 20.0


def choose_layout(binary: Binary, *, compiler: Sequence[str], old_loaders: bool) -> list[str]:
    """Return the flags of `LAYOUT` to try for a `binary` that `compiler` links.

    With `old_loaders`, packed relocations are excluded.
    """
    is_packed = not old_loaders and can_pack(binary.command, compiler)
    flags = [flag for flag in LAYOUT if is_packed or flag != PACKED]
    return [flag for flag in flags if not is_requested(binary, flag)]


def can_pack(command: CompilerCommand, compiler: Sequence[str]) -> bool:
    """Return whether `command`, run by `compiler`, links with a glibc that reads `PACKED` files.

    The compiler finds this glibc, because the flags of `command` may choose another machine or
    another system's files.
    """
    words = command.words[1:]
    never = set(_NEVER_PACKED) - ({_NO_DEFAULTS} if _C_LIBRARY in words else set[str]())
    if any(word in never or any(part in word for part in _DECIDED) for word in words):
        return False
    try:
        result = subprocess.run(
            [*compiler, *words, f"-print-file-name={_LIBC}"], cwd=command.cwd, check=False,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS,
        )  # fmt: skip
        # If there is no such file, the compiler prints the name without a folder.
        path = Path(result.stdout.decode().rstrip("\n"))
        return path.is_absolute() and _READS_PACKED in read_regular(path)
    except (OSError, ValueError, subprocess.SubprocessError):
        return False


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
