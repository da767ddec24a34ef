# SPDX-License-Identifier: MIT
"""The background of a picture: a page may be dark or light, so a picture brings its own."""

from xml.sax.saxutils import escape

__all__ = ["INK", "SOFT", "card"]

INK, SOFT = "#1f2933", "#52606d"
_GROUND, _EDGE = "#fcfcfa", "#d5d9de"


def card(width: float, height: float, title: str, parts: list[str]) -> str:
    """Return an SVG of `parts` on a light background, with a title for screen readers.

    >>> card(10, 10, "nothing", []).count("<path")
    1
    """
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" font-size="12">',
            f"<title>{escape(title)}</title>",
            f'<path d="M.5 .5H{width - 0.5:.1f}V{height - 0.5:.1f}H.5z" fill="{_GROUND}" '
            f'stroke="{_EDGE}" stroke-linejoin="round"/>',
            *parts,
            "</svg>",
        ]
    )
