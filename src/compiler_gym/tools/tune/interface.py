# SPDX-License-Identifier: MIT
"""Compare what two builds of one linked file share with other files.

Optimisation may drop weak symbols, such as those of inline functions, but neither a symbol that a
source defines for others nor a library. A build that differs was not linked like the original.
"""

from pathlib import Path

from compiler_gym.builds import read_interface

__all__ = ["explain_difference"]

_OF_LINKERS = {
    "_init", "_fini", "_start", "_end", "_edata", "_etext", "end", "edata", "etext", "__bss_start",
    "__data_start", "_IO_stdin_used",
}  # fmt: skip
"""Symbols of linkers and of start-up files, which not every linker exports."""
_OF_COMPILERS = ("libc.", "libm.", "libgcc_s.", "ld-linux", "libatomic.")
"""Beginnings of the libraries that compilers add for the code that they generate."""
_SHOWN = 3


def explain_difference(original: Path, built: Path, *, is_library: bool) -> str:
    """Return what `built` has lost, or added to, the interface of `original`; empty if nothing.

    A program may export more, because linkers differ in that.
    """
    (old, old_libraries), (new, new_libraries) = map(read_interface, (original, built))
    added = {name for name in new_libraries - old_libraries if not name.startswith(_OF_COMPILERS)}
    found = {
        "does not export": old - new,
        "also exports": new - old if is_library else set[str](),
        "also needs the library": added,
    }
    return "; ".join(
        f"{verb} {', '.join(sorted(names - _OF_LINKERS)[:_SHOWN])}"
        for verb, names in found.items()
        if names - _OF_LINKERS
    )
