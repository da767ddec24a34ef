# SPDX-License-Identifier: MIT
"""Flags that a plan may add to a build, with the conditions under which each is safe.

Flags for the layout change the file but none of its code. None of these weakens the protection of a
program: code stays apart from read-only data (``--rosegment``, ``-z separate-code``), relocations
are read-only after start-up (``-z relro``), and addresses change from run to run (``-pie``).
"""

import subprocess
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from compiler_gym import _llvm
from compiler_gym.builds import CompilerCommand
from compiler_gym.errors import ProjectError
from compiler_gym.files import read_regular
from compiler_gym.tools.tune.builds import Binary
from compiler_gym.tools.tune.goal import Measure
from compiler_gym.tools.tune.plan import BinaryPlan

SMALL = "link-time"
"""The method of a plan that uses clang's own link-time optimisation at -Oz."""
FAST = "link-time fast"
"""The method of a plan that uses clang's own link-time optimisation at -O3."""
PROGRAM = "program"
"""The method of a plan that links all sources into one module first."""
FOLDING = ("-Wl,--icf=safe",)
"""Linker flags that fold identical functions. ``--gc-sections`` is left to the build: it would
remove what ``__attribute__((used))`` keeps, and saves 0.15 % after link-time optimisation."""
TAILS = "-Wl,-O2"
"""Merges string tails: "bar" can share the storage of "foobar"."""
_SORTED = tuple(f"-Wl,--bp-compression-sort={kind}" for kind in ("function", "data", "both"))
LLD_LAYOUT = (TAILS, *_SORTED)
"""Flags that only lld has: merge string tails, and sort sections for better compression."""
FRAMES = "-fno-omit-frame-pointer"
"""Gives each function a frame pointer. Small code pushes and pops constants, and without a frame
pointer each of these needs an unwind table entry, which takes more space than the pointer."""
LEAVES = "-momit-leaf-frame-pointer"
"""Restricts `FRAMES` to functions with calls; the others need few unwind table entries."""
FRAMED = (FRAMES, LEAVES)
POLICY_PASSES = (
    "globalopt,cgscc(inline,function(sroa,early-cse<memssa>,simplifycfg,"
    "instcombine<no-verify-fixpoint>)),lto<Oz>,function(loop(loop-rotate,indvars,loop-deletion),"
    "jump-threading,correlated-propagation,simplifycfg,instcombine<no-verify-fixpoint>)"
)
"""The linker's passes for `--policy size`, for objects that the compiler has optimised. They save
0.1 to 0.3 % of loaded bytes over ``lto<Oz>``, for 3 % of the link's processor time."""
_NON_LEAF = "non-leaf-no-reserve"
"""The attribute that clang writes for `FRAMES` and `LEAVES`."""
FRONT_END_FLAGS = (FRAMES, LEAVES, "-fno-plt")
"""Front-end flags to try; -fno-plt calls library functions without a stub for each."""
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
_NEVER_PACKED = (
    "-static",
    "--static",
    "-static-pie",
    "-no-pie",
    "-nopie",
    "-nolibc",
    "-nostdlib",
    _NO_DEFAULTS,
    "-r",
)
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
            [*compiler, *words, f"-print-file-name={_LIBC}"],
            cwd=command.cwd,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
        )
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


def choose_lld_layout(binary: Binary, measure: Measure) -> list[str]:
    """Return the flags of `LLD_LAYOUT` that are worth trying."""
    sorted_too = measure is Measure.COMPRESSED
    flags = [flag for flag in LLD_LAYOUT if sorted_too or flag not in _SORTED]
    return [flag for flag in flags if not is_requested(binary, flag)]


def choose_front_end_flags(binary: Binary) -> list[str]:
    """Return the flags of `FRONT_END_FLAGS` that are safe for `binary`.

    Without stubs all functions are resolved at load time. A library may refer to a function that
    does not exist and is never called, unless its build already requests eager binding.
    """
    is_early = any("now" in item.split(",") for item in binary.command.link_flags)
    is_safe = is_early or not binary.is_shared
    return [flag for flag in FRONT_END_FLAGS if flag in (FRAMES, LEAVES) or is_safe]


def frame_words(plan: BinaryPlan, functions: Iterable[str], path: Path) -> list[str]:
    """Return linker flags that add the frame pointers of `plan` to `functions` compiled without.

    Writes the list of functions to the file `path`, if there are any flags.
    """
    if FRAMES not in plan.flags:
        return []
    kind = _NON_LEAF if LEAVES in plan.flags else "all"
    lines = (f"{name},frame-pointer={kind}\n" for name in functions)
    path.write_text("".join(lines), errors="replace")
    return [f"-Wl,-mllvm,-forceattrs-csv-path={path}"]


def list_functions(modules: Iterable[bytes]) -> Iterator[str]:
    """Yield the names of all functions that the bitcode `modules` define, each once.

    Raises `BenchmarkInitError` for a module that the engine cannot read.
    """
    names = dict[str, None]()
    for data in modules:
        graph = _llvm.call_graph(_llvm.Module(data))
        pairs = zip(graph["names"], array("b", graph["is_defined"]), strict=True)
        names.update((name, None) for name, is_defined in pairs if is_defined)
    yield from names
