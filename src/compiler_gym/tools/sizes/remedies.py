# SPDX-License-Identifier: MIT
"""The known remedies for large files, with their prices, and those that would help one file."""

from collections.abc import Callable
from dataclasses import dataclass

from compiler_gym.tools.sizes import estimates
from compiler_gym.tools.sizes.analysis import Analysis
from compiler_gym.tools.sizes.parts import PartSize

__all__ = ["REMEDIES", "Remedy", "Suggestion", "suggest_remedies"]


@dataclass(frozen=True, slots=True)
class Remedy:
    """A way to make files smaller."""

    name: str
    flags: str
    """The arguments for the compiler or linker, or the command."""
    price: str
    estimate: Callable[[Analysis], PartSize | None]
    """Returns the bytes that it saves, or None if it does not apply."""
    is_exact: bool = False
    """True if the estimate is the exact number of bytes."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A remedy that helps a file, with the bytes that it saves."""

    remedy: Remedy
    saving: PartSize


def suggest_remedies(analysis: Analysis) -> list[Suggestion]:
    """Return the remedies that help this file, the best first."""
    found: list[Suggestion] = []
    for remedy in REMEDIES:
        saving = remedy.estimate(analysis)
        if saving is not None and saving.total > 0:
            found.append(Suggestion(remedy, saving))
    return sorted(found, key=lambda row: (-row.saving.loaded, -row.saving.total))


REMEDIES = (
    Remedy(
        "strip", "strip FILE, or -Wl,-s",
        "Debuggers and profilers show no names; keep a copy with symbols.",
        estimates.strip, is_exact=True,
    ),
    Remedy(
        "packed relocations", "-Wl,-z,pack-relative-relocs",
        "Needs glibc 2.36, musl 1.2.4 or Android 9 at run time.",
        estimates.pack_relocations,
    ),
    Remedy(
        "no unwind tables", "-fno-asynchronous-unwind-tables -fno-unwind-tables",
        "No backtraces without debug information; C++ exceptions cannot pass through.",
        estimates.drop_unwinding,
    ),
    Remedy(
        "frame pointers", "-fno-omit-frame-pointer",
        "Code grows by about 1 %, and often runs slower, because a register is occupied.",
        estimates.use_frame_pointers,
    ),
    Remedy(
        "remove unused sections",
        "-ffunction-sections -fdata-sections -Wl,--gc-sections",
        "None, unless code is found only by the name of its section.",
        estimates.collect_sections,
    ),
    Remedy(
        "fold identical functions", "-ffunction-sections -fuse-ld=lld -Wl,--icf=all",
        "Different functions may have the same address.",
        estimates.fold_functions,
    ),
    Remedy(
        "fold them safely", "-ffunction-sections -fuse-ld=lld -Wl,--icf=safe",
        "Needs clang, and objects without strip or ld -r; backtraces may name the other function.",
        estimates.fold_safely,
    ),
    Remedy(
        "merge strings", "-Wl,-O2",
        "The link takes slightly longer.",
        estimates.merge_strings,
    ),
    Remedy(
        "no exceptions", "-fno-exceptions",
        "Code that throws or catches does not compile.",
        estimates.drop_exceptions,
    ),
    Remedy(
        "abort on panic", 'panic = "abort" in the profile',
        "A panic ends the program: catch_unwind does not work, and destructors do not run.",
        estimates.abort_on_panic,
    ),
    Remedy(
        "our policy", "compiler-gym-cc --policy size",
        "A build takes twice as long, and programs often run slower.",
        estimates.apply_policy,
    ),
)  # fmt: skip
"""The remedies that are known."""
