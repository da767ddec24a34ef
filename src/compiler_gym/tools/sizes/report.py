# SPDX-License-Identifier: MIT
"""The report on a file: its parts, the owners of its bytes, and the remedies that would help.

It also compares two reports, and checks one against a budget.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from compiler_gym.errors import InvalidParameterError, ProjectError
from compiler_gym.tools.sizes.analysis import Analysis
from compiler_gym.tools.sizes.binary import ArchiveMember, ElfFile, read_binaries
from compiler_gym.tools.sizes.grouping import Grouping
from compiler_gym.tools.sizes.owners import (
    Owner,
    group_by_file,
    group_by_namespace,
    sum_by_name,
)
from compiler_gym.tools.sizes.parts import Part, PartSize
from compiler_gym.tools.sizes.remedies import Suggestion, suggest_remedies

__all__ = ["SizeChange", "SizeReport", "compare_owners", "measure_file", "parse_size"]

_SIZE = re.compile(
    r"\+?(?:([0-9]{1,3}(?:,[0-9]{3})+|[0-9][0-9_]{0,30})\s*B?|"
    r"([0-9][0-9_]{0,30}(?:\.[0-9]{1,30})?)\s*(kB|KB|k|KiB|MB|M|MiB))"
)
"""A comma separates thousands of bytes; with a unit, many countries read it as a decimal point."""
_MOST_NAMES = 3
"""The number of members that a note names."""
_UNITS = {
    None: 1, "k": 1000, "kB": 1000, "KB": 1000, "KiB": 1024,
    "M": 1_000_000, "MB": 1_000_000, "MiB": 1 << 20,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SizeReport:
    """The bytes of a file."""

    path: Path
    description: str
    parts: Mapping[Part, PartSize]
    """The parts, which add up to the file."""
    owners: Mapping[Grouping, Sequence[Owner]]
    """The loaded bytes of each owner, the largest first."""
    suggestions: Sequence[Suggestion]
    """The remedies that would help, the best first; none for objects and archives."""
    notes: Sequence[str]
    """Files and names that are missing from the numbers, each with advice."""

    @property
    def loaded(self) -> int:
        """The bytes that are loaded into memory."""
        return sum(size.loaded for size in self.parts.values())

    @property
    def total(self) -> int:
        """The size of the file."""
        return sum(size.total for size in self.parts.values())

    @property
    def grouping(self) -> Grouping:
        """The owners that a report lists first."""
        return Grouping.MEMBER if self.owners[Grouping.MEMBER] else Grouping.FUNCTION

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {
            "file": str(self.path),
            "description": self.description,
            "notes": list(self.notes),
            "loaded": self.loaded,
            "total": self.total,
            "parts": {
                part.value: {"loaded": size.loaded, "total": size.total}
                for part, size in self.parts.items()
            },
            "owners": {
                str(grouping): [
                    {"name": row.name, "size": row.size, "unwind": row.unwind} for row in rows
                ]
                for grouping, rows in self.owners.items()
            },
            "remedies": [
                {
                    "name": row.remedy.name,
                    "flags": row.remedy.flags,
                    "price": row.remedy.price,
                    "loaded": row.saving.loaded,
                    "total": row.saving.total,
                    "exact": row.remedy.is_exact,
                }
                for row in self.suggestions
            ],
        }


@dataclass(frozen=True, slots=True)
class SizeChange:
    """The loaded bytes of an owner or a part in two builds."""

    name: str
    before: int
    after: int

    @property
    def growth(self) -> int:
        """The number of bytes that were added."""
        return self.after - self.before


def measure_file(path: Path, link_map: Path | None = None) -> SizeReport:
    """Return the report on the ELF file or archive `path`; raise `ProjectError` for others.

    `link_map` is the linker's map, from which the objects and archive members are read.
    """
    data, rows = read_binaries(path)
    analyses = [Analysis(row.binary) for row in rows if row.binary is not None]
    if not analyses:
        raise ProjectError(f"{path} contains no ELF file: pass an archive of compiled objects")
    is_archive = data.startswith(b"!<arch>\n")
    parts: dict[Part, PartSize] = {}
    for analysis in analyses:
        for part, size in analysis.parts.items():
            parts[part] = parts.get(part, PartSize()) + size
    rest = len(data) - sum(size.total for size in parts.values())
    others = sum(row.size for row in rows if row.binary is None)
    for part, size in ((Part.OTHER, others), (Part.HEADERS, rest - others)):
        if size:
            parts[part] = parts.get(part, PartSize()) + PartSize(0, size)
    uncounted = sum(bool(row.uncounted) for row in rows)
    description = f"archive of {len(rows)} members" if is_archive else ""
    description += f", {uncounted} not counted" if is_archive and uncounted else ""
    return SizeReport(
        path,
        description or analyses[0].binary.description,
        {part: parts[part] for part in Part if part in parts},
        _find_owners(analyses, link_map, is_archive=is_archive),
        suggest_remedies(analyses[0]) if analyses[0].binary.is_linked else [],
        list(_write_notes(rows)),
    )


def _write_notes(rows: Sequence[ArchiveMember]) -> Iterator[str]:
    uncounted = [f"{row.name} ({row.uncounted})" for row in rows if row.uncounted]
    stripped = [row.name for row in rows if row.binary is not None and row.binary.is_stripped]
    for what, names, advice in (
        ("Not counted", uncounted, "To count intermediate code, link it and pass the program."),
        ("Stripped", stripped, "To see the names of all functions, pass the unstripped file."),
    ):
        if names:
            others = f" and {len(names) - _MOST_NAMES:,} others" if names[_MOST_NAMES:] else ""
            yield f"{what}: {', '.join(names[:_MOST_NAMES])}{others}. {advice}"


def _find_owners(
    analyses: Sequence[Analysis], link_map: Path | None, *, is_archive: bool
) -> dict[Grouping, Sequence[Owner]]:
    names = [name for analysis in analyses for name in analysis.names]
    sizes = np.concatenate([analysis.items.size for analysis in analyses])
    unwind = np.concatenate([analysis.unwind for analysis in analyses])
    spaces = [
        s for each in analyses for s in group_by_namespace(each.binary, each.items, each.names)
    ]
    members = [
        Owner(each.binary.name, sum(size.loaded for size in each.parts.values()))
        for each in analyses
        if is_archive
    ]
    files = [row for each in analyses for row in group_by_file(each.binary, link_map)]
    return {
        Grouping.FUNCTION: sum_by_name(names, sizes, unwind),
        Grouping.NAMESPACE: sum_by_name(spaces, sizes, unwind),
        Grouping.FILE: sorted(files, key=lambda row: -row.loaded),
        Grouping.SECTION: _list_sections([each.binary for each in analyses]),
        Grouping.MEMBER: sorted(members, key=lambda row: -row.loaded),
    }


def _list_sections(binaries: Sequence[ElfFile]) -> list[Owner]:
    names: list[str] = []
    sizes: list[int] = []
    for binary in binaries:
        for index in np.flatnonzero(binary.is_loaded).tolist():
            names.append(binary.sections.name[index])
            sizes.append(int(binary.sections["size"][index]))
    return sum_by_name(names, np.array(sizes, dtype=np.int64), np.zeros(len(sizes), np.int64))


def compare_owners(before: Sequence[Owner], after: Sequence[Owner]) -> list[SizeChange]:
    """Return the owners that differ, the largest change first."""
    old = {row.name: row.loaded for row in before}
    new = {row.name: row.loaded for row in after}
    changes = [
        SizeChange(name, old.get(name, 0), new.get(name, 0)) for name in dict.fromkeys([*new, *old])
    ]
    return sorted(
        (change for change in changes if change.growth),
        key=lambda change: (-abs(change.growth), change.name),
    )


def parse_size(text: str) -> int:
    """Return a number of bytes; raise `InvalidParameterError` if `text` is not one.

    >>> parse_size("200kB"), parse_size("1.5 MiB"), parse_size("200,000")
    (200000, 1572864, 200000)
    """
    match = _SIZE.fullmatch(text := text.strip())
    if match is None:
        likely = "200kB, 1.5MB or 204800"
        if _SIZE.fullmatch(point := text.replace(",", ".")):
            likely = f"{point} or {text.replace(',', '')}"
        raise InvalidParameterError(
            f"--budget is {text!r}: give a number of bytes, such as {likely}"
        )
    number = Fraction(re.sub("[,_]", "", match[1] or match[2]))
    return int(number * _UNITS[match[3]])
