# SPDX-License-Identifier: MIT
"""A page that is one HTML file, and a table in it: what every report of this library looks like."""

from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files

__all__ = ["Cell", "html_page", "html_table"]


def html_page(title: str, body: str) -> str:
    """Return a whole page, which needs no network, no script and no other file."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_style()}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


@cache
def _style() -> str:
    return files("compiler_gym.tools.tune").joinpath("page_style.css").read_text(encoding="utf-8")


Cell = tuple[str, str]
"""HTML, and the class of its cell."""


def html_table(head: Sequence[str], rows: Iterable[tuple[str | Cell, ...]]) -> str:
    """Return a table; each row is its class and then its cells."""
    rows = list(rows)
    kinds = [cell[1] for cell in rows[0][1:]] if rows else [""] * len(head)
    top = "".join(
        f'<th class="{kind if kind in ("number", "change") else ""}">{escape(name)}</th>'
        for name, kind in zip(head, kinds, strict=True)
    )
    lines = [
        f'<tr class="{row[0]}">'
        + "".join(f'<td class="{cell[1]}">{cell[0]}</td>' for cell in row[1:])
        + "</tr>"
        for row in rows
    ]
    thead = f"<thead><tr>{top}</tr></thead>" if any(head) else ""
    return f'<div class="scroll"><table>{thead}<tbody>{"".join(lines)}</tbody></table></div>'
