# SPDX-License-Identifier: MIT
"""Estimates from the bytes of a file how many of them each known remedy would save.

An estimate is None for files that the remedy does not apply to.
"""

from bisect import bisect_left
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from compiler_gym.builds import SHARED
from compiler_gym.tools.sizes.analysis import Analysis
from compiler_gym.tools.sizes.binary import Numbers
from compiler_gym.tools.sizes.folding import count_folded
from compiler_gym.tools.sizes.owners import group_by_namespace
from compiler_gym.tools.sizes.parts import Part, PartSize, part_of_section
from compiler_gym.tools.sizes.strings import list_strings, measure_merged

__all__ = [
    "abort_on_panic", "apply_policy", "collect_sections", "count_packed_words", "drop_exceptions",
    "drop_unwinding", "find_live", "fold_functions", "fold_safely", "merge_strings",
    "pack_relocations", "strip", "use_frame_pointers",
]  # fmt: skip

_X86_64 = 62
_WITH_RELR = {3, 21, 40, 62, 183, 243, 258}
"""The machines for which linkers pack relocations."""
_KEPT = (".comment", ".shstrtab", ".gnu_debuglink", ".ARM.attributes", ".riscv.attributes")
"""Sections that ``strip`` keeps although they are not loaded."""
_CONTENTS = 1
"""The kind of sections that linkers may remove; notes stay."""
_THREAD_LOCAL = 0x400
"""The flag of sections with variables of threads: code has their distances, and no address."""
_INDEX_ENTRY = 8
"""The bytes of a function in the index of unwind entries, ``.eh_frame_hdr``."""
_CODE_CLANG, _CODE_GCC = 8, 16
"""The bytes of code that a frame pointer costs a function, on average, measured on C programs."""
_POLICY_MEASURED = "loaded bytes, kept if smaller"
_STANDARD_CRATES = {"std", "core", "alloc", "[no namespace]"}


def strip(analysis: Analysis) -> PartSize | None:
    """Return the bytes of symbols and debug information, as GNU ``strip`` removes them."""
    binary, table = analysis.binary, analysis.binary.sections
    if not binary.is_linked or len(table.name) <= 1:
        return None
    removes = {Part.DEBUG, Part.NAMES, Part.SYMBOLS, Part.RELOCATIONS}
    kept: list[int] = []
    for index in range(len(table.name)):
        is_kept = table["flags"][index] & 2 or table.name[index] in _KEPT
        if is_kept or part_of_section(binary, index) not in removes:
            kept.append(index)
    if len(kept) == len(table.name):
        return None
    end = max((end for _, end in binary.loaded_ranges), default=0)
    for index in kept:
        if not table["flags"][index] & 2 and table.name[index] != ".shstrtab":
            end += -end % max(int(table["alignment"][index]), 1) + int(table["size"][index])
    end += 1 + measure_merged({table.name[index].encode() for index in kept if index})
    end += -end % (binary.bits // 8)
    end += binary.sections_size // len(table.name) * len(kept)
    return PartSize(0, len(binary.data) - end)


def pack_relocations(analysis: Analysis) -> PartSize | None:
    """Return the bytes that the format RELR saves."""
    binary = analysis.binary
    word = binary.bits // 8
    is_packed = 19 in binary.sections["kind"]
    if binary.kind != SHARED or is_packed or binary.machine not in _WITH_RELR:
        return None
    places = np.concatenate((binary.relocations["place"], binary.relocations["packed"]))
    record = 3 * word if len(binary.relocations["place"]) else 2 * word
    even = np.sort(places[places % 2 == 0])
    saved = len(even) * record - count_packed_words(even.tolist(), word) * word
    return _both(saved - 3 * 2 * word)  # three entries of the dynamic table


def count_packed_words(places: list[int], word: int) -> int:
    """Return the number of machine words in which RELR encodes the addresses `places`.

    >>> count_packed_words([0x1000, 0x1008, 0x1010, 0x9000], 8)
    3
    """
    words = at = 0
    span = (8 * word - 1) * word
    while at < len(places):
        base = places[at] + word
        at, words = at + 1, words + 1
        while True:
            end = bisect_left(places, base + span, at)
            if end == at or any((place - base) % word for place in places[at:end]):
                break
            at, words, base = end, words + 1, base + span
    return words


def drop_unwinding(analysis: Analysis) -> PartSize | None:
    """Return the bytes of unwind entries of functions that cannot throw."""
    binary = analysis.binary
    frames, part = binary.frames, analysis.parts.get(Part.UNWIND)
    is_static = binary.is_program and 3 not in binary.segments["kind"]
    if part is None or analysis.throws or analysis.is_go or analysis.is_rust or is_static:
        return None
    owner = analysis.items.find(binary.offsets(frames["function"]))
    starts = binary.offsets(np.array([binary.entry], dtype=np.uint64).view(np.int64))
    dropped = (owner >= 0) & (owner != analysis.items.find(starts)[0])
    dropped &= binary.is_code[analysis.items.section[owner]]
    is_stub = np.array([name.startswith(".plt") for name in binary.sections.name], dtype=np.bool_)
    dropped &= ~is_stub[analysis.items.section[owner]]
    return _both(int(frames["size"][dropped].sum()) + _INDEX_ENTRY * int(dropped.sum()))


def use_frame_pointers(analysis: Analysis) -> PartSize | None:
    """Return the bytes of unwind entries minus those of code that frame pointers cost."""
    binary, frames = analysis.binary, analysis.binary.frames
    if binary.machine != _X86_64 or analysis.is_go or not len(frames["size"]):
        return None
    # With a frame pointer, the entry has a few steps, and one for each other register.
    others = np.maximum(frames["saved"] - 1, 0)
    body = 30 + 4 * (frames["table"] != 0) + 2 * others + (others > 0)
    gain = int((frames["size"] - (body + 7) // 8 * 8).sum())
    is_clang = analysis.is_rust or b"clang version" in binary.contents(".comment")
    return _both(gain - len(frames["size"]) * (_CODE_CLANG if is_clang else _CODE_GCC))


def collect_sections(analysis: Analysis) -> PartSize | None:
    """Return the bytes of functions and variables that nothing uses."""
    binary = analysis.binary
    if analysis.references is None or analysis.is_go:
        return None
    flags, kinds = binary.sections["flags"], binary.sections["kind"]
    is_removable = (kinds == _CONTENTS) & ((flags & _THREAD_LOCAL) == 0)
    dead = is_removable[analysis.items.section] & ~find_live(analysis)
    sizes = analysis.items.padded_size + analysis.unwind + _INDEX_ENTRY * (analysis.unwind > 0)
    return _both(int(sizes[dead].sum()))


def find_live(analysis: Analysis) -> NDArray[np.bool_]:
    """Return for each item whether the program can reach it from its roots."""
    binary, items, references = analysis.binary, analysis.items, analysis.references
    assert references is not None, "the caller checks the machine"
    symbols = binary.symbols
    source, target = items.find(references.place), items.find(references.target)
    exported = (symbols["dynamic"] != 0) & (symbols["section"] != 0)
    kept = np.array([name.startswith("DW.ref.") for name in symbols.name], dtype=np.bool_)
    roots = [
        target[source < 0],
        items.find(binary.offsets(symbols["value"][exported | kept])),
        items.find(binary.offsets(np.array([binary.entry], dtype=np.uint64).view(np.int64))),
    ]
    live = np.zeros(len(items.start) + 1, dtype=np.bool_)  # the last one is for -1
    live[np.concatenate(roots)] = True
    is_edge = (source >= 0) & (target >= 0) & (source != target)
    source, target = source[is_edge], target[is_edge]
    while not live[reached := target[live[source]]].all():
        live[reached] = True
    return live[:-1]


def fold_functions(analysis: Analysis) -> PartSize | None:
    """Return the bytes of functions with the same instructions as another one."""
    return None if analysis.is_go else _estimate_folding(analysis, is_safe=False)


def fold_safely(analysis: Analysis) -> PartSize | None:
    """Return the bytes of folded functions whose addresses nothing uses."""
    return None if analysis.is_go else _estimate_folding(analysis, is_safe=True)


def _estimate_folding(analysis: Analysis, *, is_safe: bool) -> PartSize | None:
    folded = count_folded(analysis, is_safe=is_safe)
    return None if folded is None else _both(folded)


def merge_strings(analysis: Analysis) -> PartSize | None:
    """Return the bytes of strings that are the end of another one."""
    if analysis.is_go or analysis.is_rust:
        return None
    strings = list_strings(analysis)
    return _both(sum(len(text) + 1 for text in strings) - measure_merged(strings))


def drop_exceptions(analysis: Analysis) -> PartSize | None:
    """Return the bytes of exception tables and landing pads in C++."""
    return None if analysis.is_rust else _landing(analysis, skipped=set())


def abort_on_panic(analysis: Analysis) -> PartSize | None:
    """Return the bytes of exception tables and landing pads in the crates that you compile."""
    return _landing(analysis, skipped=_STANDARD_CRATES) if analysis.is_rust else None


def _landing(analysis: Analysis, skipped: Iterable[str]) -> PartSize | None:
    binary, frames = analysis.binary, analysis.binary.frames
    if not analysis.throws:
        return None
    owner = analysis.items.find(binary.offsets(frames["function"]))
    crates = group_by_namespace(binary, analysis.items, analysis.names)
    is_kept = np.array([crate in skipped for crate in crates] + [False], dtype=np.bool_)
    dropped = (frames["table"] != 0) & ~is_kept[owner]
    tables = len(binary.contents(".gcc_except_table"))
    share = int(dropped.sum()) / int((frames["table"] != 0).sum())
    return _both(int(tables * share) + _landing_bytes(frames["landing"][dropped], analysis))


def _landing_bytes(landing: Numbers, analysis: Analysis) -> int:
    """Return the bytes from the first landing pad in each function to its end."""
    items = analysis.items
    places = analysis.binary.offsets(landing[landing != 0])
    owner = items.find(places)
    places, owner = places[owner >= 0], owner[owner >= 0]
    first = np.full(len(items.start), np.iinfo(np.int64).max)
    np.minimum.at(first, owner, places)
    chosen = np.unique(owner)
    return int((items.start + items.size - first)[chosen].sum())


def apply_policy(analysis: Analysis) -> PartSize | None:
    """Return the bytes that our policy saved of held-out programs of this size, on average."""
    from compiler_gym.tools.tune import policy_named

    binary = analysis.binary
    is_other = analysis.is_go or analysis.is_rust or not binary.is_linked
    if binary.machine != _X86_64 or is_other:
        return None
    known = policy_named("size").known.measured[_POLICY_MEASURED]
    loaded = sum(size.loaded for size in analysis.parts.values())
    return _both(int(loaded * -float(known.split()[0]) / 100))


def _both(size: int) -> PartSize:
    """Return a saving of loaded bytes, which are in the file too."""
    return PartSize(size, size)
