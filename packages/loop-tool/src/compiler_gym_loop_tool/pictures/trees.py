# SPDX-License-Identifier: MIT
"""Pictures of a loop tree: nested boxes for loops, with annotations in colour."""

import re
from dataclasses import dataclass
from xml.sax.saxutils import escape

from compiler_gym_loop_tool.pictures.cards import INK, SOFT, card

__all__ = ["Line", "read_lines", "tree_svg", "tree_text"]

_LOOP = re.compile(r"for (\S+) in (\d+)(?: r (\d+))? : L(\d+)((?: \[[^\]]*\])*)")
_NOTE = re.compile(r"\[([^\]]*)\]")
_ROW, _GAP, _INDENT, _PADDING, _CHARACTER = 24, 4, 18, 10, 7.4
_CURSOR = "#b2182b"
_COLOURS = {"thread": "#f4a582", "vectorise": "#92c5de", "unroll": "#d9d2e9", "pack": "#fddbc7"}
_WHITE = "#ffffff"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a tree's text: a loop, or a statement, which has no number."""

    depth: int
    text: str
    number: int | None = None
    notes: tuple[str, ...] = ()


def read_lines(tree: str) -> list[Line]:
    """Return the parsed lines of the text of a tree.

    >>> read_lines("for m in 3 r 1 : L0 [unroll]\\n C[m] = A[m]")[0].notes
    ('unroll',)
    """
    lines: list[Line] = []
    for line in tree.splitlines():
        text = line.strip()
        depth = len(line) - len(line.lstrip())
        match = _LOOP.fullmatch(text)
        if match is None:
            lines.append(Line(depth, text))
            continue
        tail = f" + {match[3]}" if match[3] else ""
        notes = tuple(_NOTE.findall(match[5]))
        lines.append(Line(depth, f"{match[1]}: {match[2]}{tail}", int(match[4]), notes))
    return lines


def tree_text(tree: str, cursor: int | None = None) -> str:
    """Return the tree as text: branches, sizes, annotations, and an arrow at the cursor.

    >>> print(tree_text("for m in 4 : L0\\n for n in 3 r 1 : L1 [thread]\\n  C[m, n] = 1.0", 1))
    ┌ m: 4
    │ ┌ n: 3 + 1  [thread]  ◀
    │ │ C[m, n] = 1.0
    """
    rows: list[str] = []
    for line in read_lines(tree):
        bars = "│ " * line.depth
        if line.number is None:
            rows.append(f"{bars}{line.text}")
            continue
        notes = "".join(f"  [{note}]" for note in line.notes)
        arrow = "  ◀" if line.number == cursor else ""
        rows.append(f"{bars}┌ {line.text}{notes}{arrow}")
    return "\n".join(rows)


def tree_svg(tree: str, cursor: int | None = None) -> str:
    """Return the tree as SVG: nested boxes, the outermost loop on top, an arrow at the cursor."""
    lines = read_lines(tree)
    longest = max(
        (line.depth * _INDENT + len(_line_label(line, cursor)) * _CHARACTER for line in lines),
        default=0,
    )
    deepest = max((line.depth for line in lines), default=0)
    width = longest + 4 * _PADDING + deepest * _GAP
    tops, bottoms, height = _row_positions(lines)
    parts: list[str] = []
    for line, top, bottom in zip(lines, tops, bottoms, strict=True):
        left, right = _PADDING + line.depth * _INDENT, width - _PADDING - line.depth * _GAP
        if line.number is not None:
            is_here = line.number == cursor
            edge = f'"{_CURSOR}" stroke-width="2"' if is_here else f'"{SOFT}" stroke-opacity=".6"'
            parts.append(
                f'<rect x="{left}" y="{top}" width="{right - left:.1f}" height="{bottom - top}" '
                f'rx="4" fill="{_colour(line)}" stroke={edge}/>'
            )
        parts.append(
            f'<text x="{left + 6}" y="{top + 16}" fill="{INK}" font-family="monospace">'
            f"{escape(_line_label(line, cursor))}</text>"
        )
    return card(width, height, f"a tree of {len(lines)} loops and statements", parts)


def _row_positions(lines: list[Line]) -> tuple[list[int], list[int], int]:
    """Return the top of each line, the bottom of each box, and the height of the picture."""
    tops: list[int] = []
    bottoms = [0] * len(lines)
    open_boxes: list[int] = []
    y = _PADDING
    for at, line in enumerate([*lines, Line(0, "")]):
        while open_boxes and lines[open_boxes[-1]].depth >= line.depth:
            bottoms[open_boxes.pop()] = y
            y += _GAP
        if at == len(lines):
            break
        tops.append(y)
        y += _ROW
        if line.number is None:
            bottoms[at] = y
        else:
            open_boxes.append(at)
    return tops, bottoms, y + _PADDING - _GAP


def _line_label(line: Line, cursor: int | None = None) -> str:
    arrow = ("◀",) if line.number is not None and line.number == cursor else ()
    return "  ".join((line.text, *line.notes, *arrow))


def _colour(line: Line) -> str:
    words = [note.split()[0] for note in line.notes]
    return next((colour for word, colour in _COLOURS.items() if word in words), _WHITE)
