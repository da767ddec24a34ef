# SPDX-License-Identifier: MIT
"""A loop tree as a picture: a box for each loop, what is in it inside, annotations in colour."""

import re
from dataclasses import dataclass
from xml.sax.saxutils import escape

__all__ = ["Line", "lines_of", "tree_svg", "tree_text"]

_LOOP = re.compile(r"for (\S+) in (\d+)(?: r (\d+))? : L(\d+)((?: \[[^\]]*\])*)")
_NOTE = re.compile(r"\[([^\]]*)\]")
_ROW, _INDENT, _PADDING, _CHARACTER = 26, 18, 8, 7.4
_COLOURS = {"thread": "#f4a582", "vectorise": "#92c5de", "unroll": "#d9d2e9", "pack": "#fddbc7"}
_PLAIN = "#f7f7f7"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a tree's text: a loop, or a statement, which has no number."""

    depth: int
    text: str
    number: int | None = None
    notes: tuple[str, ...] = ()


def lines_of(tree: str) -> list[Line]:
    """Return what each line of the text of a tree says.

    >>> lines_of("for m in 3 r 1 : L0 [unroll]\\n C[m] = A[m]")[0].notes
    ('unroll',)
    """
    found: list[Line] = []
    for line in tree.splitlines():
        text = line.strip()
        depth = len(line) - len(line.lstrip())
        match = _LOOP.fullmatch(text)
        if match is None:
            found.append(Line(depth, text))
            continue
        tail = f" + {match[3]}" if match[3] else ""
        notes = tuple(_NOTE.findall(match[5]))
        found.append(Line(depth, f"{match[1]}: {match[2]}{tail}", int(match[4]), notes))
    return found


def tree_text(tree: str, cursor: int | None = None) -> str:
    """Return the tree in characters: branches, sizes, annotations, and an arrow at the cursor.

    >>> print(tree_text("for m in 4 : L0\\n for n in 3 r 1 : L1 [thread]\\n  C[m, n] = 1.0", 1))
    ┌ m: 4
    │ ┌ n: 3 + 1  [thread]  ◀
    │ │ C[m, n] = 1.0
    """
    shown: list[str] = []
    for line in lines_of(tree):
        bars = "│ " * line.depth
        if line.number is None:
            shown.append(f"{bars}{line.text}")
            continue
        notes = "".join(f"  [{note}]" for note in line.notes)
        arrow = "  ◀" if line.number == cursor else ""
        shown.append(f"{bars}┌ {line.text}{notes}{arrow}")
    return "\n".join(shown)


def tree_svg(tree: str, cursor: int | None = None) -> str:
    """Return the tree as SVG: boxes in boxes, the outermost loop on top."""
    lines = lines_of(tree)
    ends = [_end(lines, at) for at in range(len(lines))]
    deepest = max((line.depth for line in lines), default=0)
    longest = max(
        (line.depth * _INDENT + len(_label(line)) * _CHARACTER for line in lines), default=0
    )
    width = longest + (deepest + 2) * _PADDING + 2 * _PADDING
    height = len(lines) * _ROW + 2 * _PADDING + deepest * 4
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="monospace" font-size="12">'
    ]
    for at, line in enumerate(lines):
        left, top = _PADDING + line.depth * _INDENT, _PADDING + at * _ROW
        if line.number is not None:
            right = width - _PADDING - line.depth * 4
            bottom = (ends[at] - at) * _ROW - 4
            edge = (
                ' stroke="#b2182b" stroke-width="2"' if line.number == cursor else ' stroke="#888"'
            )
            parts.append(
                f'<rect x="{left}" y="{top}" width="{right - left:.0f}" height="{bottom}" rx="4" '
                f'fill="{_colour(line)}"{edge}/>'
            )
        parts.append(f'<text x="{left + 6}" y="{top + 16}">{escape(_label(line))}</text>')
    return "\n".join([*parts, "</svg>"])


def _label(line: Line) -> str:
    return "  ".join((line.text, *line.notes))


def _colour(line: Line) -> str:
    words = [note.split()[0] for note in line.notes]
    return next((colour for word, colour in _COLOURS.items() if word in words), _PLAIN)


def _end(lines: list[Line], at: int) -> int:
    """Return the number of the line after what is inside the loop of line `at`."""
    for later in range(at + 1, len(lines)):
        if lines[later].depth <= lines[at].depth:
            return later
    return len(lines)
