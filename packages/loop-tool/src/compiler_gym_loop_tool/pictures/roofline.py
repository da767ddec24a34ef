# SPDX-License-Identifier: MIT
"""The roofline: a nest's performance below the memory and compute limits (Williams, 2009)."""

from collections.abc import Iterator, Mapping, Sequence
from math import floor, log10
from typing import Any

from compiler_gym_loop_tool.pictures.cards import INK, SOFT, card

__all__ = ["roofline_svg", "roofline_text"]

_WIDTH, _HEIGHT, _MARGIN = 60, 14, 8
_LEFT, _TOP, _PLOT_WIDTH, _PLOT_HEIGHT = 64, 38, 480, 240
_ROOF, _NEST = "#2166ac", "#b2182b"
_MOST_TICKS = 8


def roofline_text(facts: Mapping[str, Any]) -> str:
    """Return the roofline as text: the roof, and a star for the nest.

    `facts` is the value of the observation ``roofline``. Both axes are logarithmic.
    """
    view = _View(facts)
    rows = [[" "] * _WIDTH for _ in range(_HEIGHT)]
    labels = [""] * _HEIGHT

    def find_row(gflops: float) -> int:
        return min(max(round((1 - view.y(gflops)) * (_HEIGHT - 1)), 0), _HEIGHT - 1)

    for column in range(_WIDTH):
        x = column / (_WIDTH - 1)
        row = find_row(view.roof(view.intensity_at(x)))
        rows[row][column] = "─" if view.is_flat(x) else "/"
    reached = find_row(facts["gflops"])
    rows[reached][min(max(round(view.x(facts["intensity"]) * (_WIDTH - 1)), 0), _WIDTH - 1)] = "*"
    labels[find_row(view.peak)] = f"{view.peak:.3g}"
    labels[reached] = f"{facts['gflops']:.3g}"
    drawn = [
        f"{label:>{_MARGIN - 1}} {'┤' if label else '│'}{''.join(row).rstrip()}"
        for label, row in zip(labels, rows, strict=True)
    ]
    return "\n".join([_title(facts), *drawn, f"{' ' * _MARGIN}└{'─' * _WIDTH}", _axis(view)])


def roofline_svg(facts: Mapping[str, Any], before: Sequence[float] = ()) -> str:
    """Return the roofline as SVG. `facts` is the value of the observation ``roofline``.

    `before` has the GFLOPS of other nests of the same program, drawn as unnamed rings.
    """
    view = _View(facts, before)
    right, bottom = _LEFT + _PLOT_WIDTH, _TOP + _PLOT_HEIGHT
    points = " ".join(
        f"{_across(x / 100):.1f},{_down(view.y(view.roof(view.intensity_at(x / 100)))):.1f}"
        for x in range(101)
    )
    x, y = _across(view.x(facts["intensity"])), _down(view.y(facts["gflops"]))
    is_left = x > _LEFT + 110
    parts = [
        _note(_LEFT, 20, _title(facts), weight="600"),
        *_ticks(view),
        f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}" fill="none" stroke="{SOFT}"/>',
        f'<polyline points="{points}" fill="none" stroke="{_ROOF}" stroke-width="2"/>',
        _note(right, _down(view.y(view.peak)) - 6, f"peak {view.peak:.3g} GFLOPS", "end", _ROOF),
        f'<line x1="{x:.1f}" y1="{bottom}" x2="{x:.1f}" y2="{y:.1f}" stroke="{_NEST}" '
        'stroke-dasharray="3 3"/>',
        *(
            f'<circle cx="{x:.1f}" cy="{_down(view.y(gflops)):.1f}" r="4" fill="#ffffff" stroke='
            f'"{_NEST}"/>{_note(x + 9, _down(view.y(gflops)) + 4, f"{gflops:.3g}", colour=_NEST)}'
            for gflops in before
        ),
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{_NEST}"/>',
        _note(
            x - 9 if is_left else x + 9, y + 16, f"this nest: {facts['gflops']:.3g}",
            "end" if is_left else "start", _NEST,
        ),
        _note(_LEFT, bottom + 36, f"operations per byte; memory: {view.bandwidth:.3g} GB/s"),
        _note(_LEFT - 8, _TOP - 4, "GFLOPS", "end"),
    ]  # fmt: skip
    return card(right + 24, bottom + 48, _title(facts), parts)


def _ticks(view: "_View") -> Iterator[str]:
    """Yield a line and a number for each power of ten, with 2 and 5 times if there are few."""
    bottom = _TOP + _PLOT_HEIGHT
    for value in _round_numbers(view.bottom, view.top):
        y = _down(view.y(value))
        yield f'<path d="M{_LEFT} {y:.1f}h{_PLOT_WIDTH}" stroke="{SOFT}" stroke-opacity=".15"/>'
        yield _note(_LEFT - 8, y + 4, f"{value:g}", "end")
    for value in _round_numbers(view.low, view.high):
        x = _across(view.x(value))
        yield f'<path d="M{x:.1f} {bottom}v4" stroke="{SOFT}"/>'
        yield _note(x, bottom + 17, f"{value:g}", "middle")


def _round_numbers(low: float, high: float) -> list[float]:
    """Return the powers of ten from `low` to `high`, with 2 and 5 times them if there are few.

    >>> _round_numbers(0.7, 30), _round_numbers(0.02, 2000)
    ([1.0, 2.0, 5.0, 10.0, 20.0], [0.1, 1.0, 10.0, 100.0, 1000.0])
    """
    powers = range(floor(log10(low)), floor(log10(high)) + 1)
    for factors in ((1, 2, 5), (1,)):
        numbers = [f * 10.0**p for p in powers for f in factors if low <= f * 10.0**p <= high]
        if len(numbers) <= _MOST_TICKS:
            return numbers
    return numbers[:: -(-len(numbers) // _MOST_TICKS)]


def _across(share: float) -> float:
    return _LEFT + share * _PLOT_WIDTH


def _down(share: float) -> float:
    return _TOP + (1 - share) * _PLOT_HEIGHT


def _note(
    x: float, y: float, text: str, anchor: str = "start", colour: str = INK, weight: str = "400"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" '
        f'font-family="sans-serif" font-weight="{weight}">{text}</text>'
    )


class _View:
    """Logarithmic axes that contain a nest and its roof."""

    def __init__(self, facts: Mapping[str, Any], before: Sequence[float] = ()) -> None:
        self.peak, self.bandwidth = float(facts["peak"]), float(facts["bandwidth"])
        ridge = self.peak / self.bandwidth
        self.low = min(ridge, float(facts["intensity"])) / 8
        self.high = max(ridge, float(facts["intensity"])) * 8
        reached = [max(float(gflops), 1e-9) for gflops in (facts["gflops"], *before)]
        self.bottom = min(self.roof(self.low), *reached) / 2
        self.top = max(self.peak, *reached) * 1.5

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
    digits = 0 if share >= 0.1 else 1
    return (
        f"{facts['gflops']:.3g} GFLOPS, {share:.{digits}%} of the {facts['roof']:.3g} "
        f"possible at {facts['intensity']:.3g} operations per byte"
    )


def _axis(view: _View) -> str:
    return (
        f"{view.low:.2g} to {view.high:.3g} operations per byte; "
        f"peak {view.peak:.3g} GFLOPS, {view.bandwidth:.3g} GB/s"
    )
