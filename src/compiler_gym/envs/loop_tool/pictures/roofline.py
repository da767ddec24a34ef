# SPDX-License-Identifier: MIT
"""The roofline: what a nest reaches, under what memory and arithmetic allow (Williams, 2009)."""

from collections.abc import Mapping
from math import log10
from typing import Any

__all__ = ["roofline_svg", "roofline_text"]

_WIDTH, _HEIGHT = 60, 14
_LEFT, _TOP, _SVG_WIDTH, _SVG_HEIGHT = 60, 30, 480, 260


def roofline_text(facts: Mapping[str, Any]) -> str:
    """Return the roofline in characters: the roof, and a star for the nest.

    `facts` are those of the observation ``roofline``.
    """
    view = _View(facts)
    rows = [[" "] * _WIDTH for _ in range(_HEIGHT)]
    for column in range(_WIDTH):
        x = column / (_WIDTH - 1)
        row = round((1 - view.y(view.roof(view.intensity_at(x)))) * (_HEIGHT - 1))
        rows[min(max(row, 0), _HEIGHT - 1)][column] = "─" if view.is_flat(x) else "/"
    column = min(max(round(view.x(facts["intensity"]) * (_WIDTH - 1)), 0), _WIDTH - 1)
    row = min(max(round((1 - view.y(facts["gflops"])) * (_HEIGHT - 1)), 0), _HEIGHT - 1)
    rows[row][column] = "*"
    return "\n".join([_title(facts), *("".join(row).rstrip() for row in rows), _axis(view)])


def roofline_svg(facts: Mapping[str, Any]) -> str:
    """Return the roofline as SVG. `facts` are those of the observation ``roofline``."""
    view = _View(facts)
    points = " ".join(
        f"{_LEFT + x / 100 * _SVG_WIDTH:.1f},"
        f"{_TOP + (1 - view.y(view.roof(view.intensity_at(x / 100)))) * _SVG_HEIGHT:.1f}"
        for x in range(101)
    )
    x = _LEFT + view.x(facts["intensity"]) * _SVG_WIDTH
    y = _TOP + (1 - view.y(facts["gflops"])) * _SVG_HEIGHT
    bottom = _TOP + _SVG_HEIGHT
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _SVG_WIDTH + 20}" '
            f'height="{bottom + 40}" font-family="sans-serif" font-size="12">',
            f'<text x="{_LEFT}" y="18">{_title(facts)}</text>',
            f'<path d="M{_LEFT} {_TOP}V{bottom}H{_LEFT + _SVG_WIDTH}" fill="none" stroke="#888"/>',
            f'<polyline points="{points}" fill="none" stroke="#2166ac" stroke-width="2"/>',
            f'<line x1="{x:.1f}" y1="{bottom}" x2="{x:.1f}" y2="{y:.1f}" stroke="#bbb"/>',
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="#b2182b"/>',
            f'<text x="{_LEFT}" y="{bottom + 24}">{_axis(view).strip()}</text>',
            "</svg>",
        ]
    )


class _View:
    """Logarithmic axes around a nest and its roof."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.peak, self.bandwidth = float(facts["peak"]), float(facts["bandwidth"])
        ridge = self.peak / self.bandwidth
        self.low = min(ridge, float(facts["intensity"])) / 8
        self.high = max(ridge, float(facts["intensity"])) * 8
        reached = max(float(facts["gflops"]), 1e-9)
        self.bottom = min(self.roof(self.low), reached) / 2
        self.top = max(self.peak, reached) * 1.5

    def roof(self, intensity: float) -> float:
        return min(self.peak, self.bandwidth * intensity)

    def is_flat(self, x: float) -> bool:
        return self.bandwidth * self.intensity_at(x) >= self.peak

    def intensity_at(self, x: float) -> float:
        return self.low * (self.high / self.low) ** x

    def x(self, intensity: float) -> float:
        return log10(intensity / self.low) / log10(self.high / self.low)

    def y(self, gflops: float) -> float:
        return log10(max(gflops, self.bottom) / self.bottom) / log10(self.top / self.bottom)


def _title(facts: Mapping[str, Any]) -> str:
    share = facts["gflops"] / facts["roof"]
    return (
        f"{facts['gflops']:.3g} GFLOPS, {share:.0%} of the {facts['roof']:.3g} that are possible "
        f"at {facts['intensity']:.3g} operations a byte"
    )


def _axis(view: _View) -> str:
    return (
        f"{view.low:.2g} to {view.high:.3g} operations a byte; "
        f"peak {view.peak:.3g} GFLOPS, {view.bandwidth:.3g} GB/s"
    )
