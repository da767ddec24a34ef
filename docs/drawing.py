# SPDX-License-Identifier: MIT
"""Boxes, arrows and lines as SVG, on a card of their own that reads in light and dark pages.

A picture in a page cannot know whether the page is dark: so it brings its ground with it.
"""

from collections.abc import Sequence
from html import escape
from pathlib import Path

__all__ = ["Drawing"]

INK, SOFT, GROUND = "#1f2933", "#52606d", "#fcfcfa"
FILLS = {"plain": "#ffffff", "blue": "#dbeafe", "green": "#d9f2e3", "sand": "#fdebd0"}


class Drawing:
    """A card of `width` and `height` with a text for those who cannot see it."""

    def __init__(self, width: int, height: int, description: str) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" '
            'font-family="system-ui, Helvetica, Arial, sans-serif" font-size="14">',
            f"<title>{escape(description)}</title>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{SOFT}"/></marker>'
            "</defs>",
            f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="10" '
            f'fill="{GROUND}" stroke="#d5d9de"/>',
        ]

    def box(
        self, x: int, y: int, width: int, height: int, lines: Sequence[str], fill: str = "plain"
    ) -> None:
        """Draw a box; its first line is bold."""
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="7" '
            f'fill="{FILLS[fill]}" stroke="{SOFT}"/>'
        )
        top = y + height / 2 - 9 * (len(lines) - 1) + 5
        for number, line in enumerate(lines):
            self.text(x + width // 2, top + 18 * number, line, bold=number == 0, anchor="middle")

    def text(
        self,
        x: float,
        y: float,
        line: str,
        *,
        bold: bool = False,
        anchor: str = "start",
        size: int = 14,
        color: str = INK,
    ) -> None:
        """Write one line."""
        weight = ' font-weight="600"' if bold else ""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}" '
            f'fill="{color}"{weight}>{escape(line)}</text>'
        )

    def arrow(self, points: Sequence[tuple[float, float]], *, both: bool = False) -> None:
        """Draw a line along `points` that ends in a tip, or begins in one, too."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        start = ' marker-start="url(#tip)"' if both else ""
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="{SOFT}" stroke-width="1.6" '
            f'marker-end="url(#tip)"{start}/>'
        )

    def line(
        self,
        points: Sequence[tuple[float, float]],
        color: str = SOFT,
        *,
        dashed: bool = False,
        width: float = 1.2,
    ) -> None:
        """Draw a line."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width:g}"'
            f"{dash}/>"
        )

    def dot(self, x: float, y: float, color: str) -> None:
        """Draw a dot."""
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="3.5" fill="{color}"/>')

    def save(self, path: Path) -> None:
        """Write the file."""
        path.write_text("\n".join([*self.parts, "</svg>", ""]), encoding="utf-8")
