# SPDX-License-Identifier: MIT
"""Plant errors in IR, to measure what the validators see.

An edit keeps the module valid IR: it does what a miscompiling pass would do, and nothing a
verifier could object to. Which place is edited is drawn by a seed, if wanted among the
places that some input reaches.
"""

import random
import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass

from scripts.edits import KINDS, Change, Place

__all__ = ["KINDS", "MARK", "Edit", "block_of_lines", "plant", "with_marks"]

MARK = "compiler_gym_reached"
"""The function that a marked module calls at the begin of each block, with its number."""

_TRAP = '  call void asm sideeffect "ud2", ""()'
_LABEL = re.compile(r"^(\d+|[\w.$-]+|\"[^\"]+\"):")
_PHI = re.compile(r"^  %\S+ = phi ")
_CASE = re.compile(r"^    i\d+ -?\d+, label ")
_ALLOCA = re.compile(r"^  %\S+ = alloca ")


@dataclass(frozen=True, slots=True)
class Edit:
    """One planted error."""

    kind: str
    function: str
    before: str
    after: str
    line: int
    text: str
    """The module with the error."""
    marked: str
    """The module that stops where the error would be: run it to see who gets there."""


def plant(
    ir: str,
    kind: str,
    seed: int,
    *,
    reached: Container[int] | None = None,
    is_valid: Callable[[str], bool] | None = None,
) -> Edit | None:
    """Return `ir` with one error of `kind`, or None where it has no place for one.

    `reached` are the numbers of the blocks to edit, as `with_marks` gives them; `is_valid`
    tells whether text is valid IR: a place where an edit would not be is passed over.
    """
    lines = ir.splitlines()
    blocks = block_of_lines(lines)
    places = [
        (place, change)
        for place, change in _places(lines, kind)
        if reached is None or blocks.get(place.at, -1) in reached
    ]
    random.Random(f"{seed} {kind}").shuffle(places)
    for place, change in places:
        text = _changed(lines, change)
        if is_valid is None or is_valid(text):
            return _edit(kind, place, change, text)
    return None


def with_marks(ir: str) -> str:
    """Return `ir` with a call of `MARK` at the begin of each block, with the block's number."""
    lines = ir.splitlines()
    marks: dict[int, list[str]] = {}
    known: set[int] = set()
    for number, block in block_of_lines(lines).items():
        line = lines[number]
        is_first = block not in known and not _PHI.match(line) and not _ALLOCA.match(line)
        if is_first and not _LABEL.match(line):
            known.add(block)
            marks[number] = [f"  call void @{MARK}(i32 {block})", line]
    return _changed(lines, marks) + f"declare void @{MARK}(i32)\n"


def block_of_lines(lines: Sequence[str]) -> dict[int, int]:
    """Return the number of its block for each line in one."""
    blocks: dict[int, int] = {}
    block, is_inside = -1, False
    for number, line in enumerate(lines):
        if line.startswith("define "):
            is_inside, block = True, block + 1
        elif line.startswith("}"):
            is_inside = False
        elif is_inside and _LABEL.match(line):
            block += 1
        elif is_inside and line.startswith("  "):
            blocks[number] = block
    return blocks


def _places(lines: list[str], kind: str) -> Iterator[tuple[Place, Change]]:
    first = -1
    for number, line in enumerate(lines):
        if line.startswith("define "):
            first = number
        elif line.startswith("}"):
            first = -1
        elif first >= 0 and line.startswith("  "):
            place = Place(lines, first, number)
            change = KINDS[kind].edit(place)
            if change is not None:
                yield place, change


def _edit(kind: str, place: Place, change: Change, text: str) -> Edit:
    define = place.lines[place.first]
    after = " / ".join(line.strip() for lines in change.values() for line in lines)
    return Edit(
        kind,
        define.partition("@")[2].partition("(")[0],
        place.line.strip(),
        after[:400],
        place.at + 1,
        text,
        _marked(place),
    )


def _marked(place: Place) -> str:
    """Return the module with a trap before the place, or after the phis it is among."""
    at = place.at
    while _CASE.match(place.lines[at]):
        at -= 1
    while _PHI.match(place.lines[at]):
        at += 1
    return _changed(list(place.lines), {at: [_TRAP, place.lines[at]]})


def _changed(lines: list[str], change: Change) -> str:
    parts = (part for n, line in enumerate(lines) for part in change.get(n, (line,)))
    return "\n".join(parts) + "\n"
