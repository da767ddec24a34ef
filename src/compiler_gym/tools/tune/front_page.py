# SPDX-License-Identifier: MIT
"""A plot of a front: code size on the x axis, speed on the y axis, and a point per build."""

from collections.abc import Iterator
from html import escape

from markupsafe import Markup

from compiler_gym.tools.tune.summary import BinarySummary, FrontRow

__all__ = ["front_picture"]

_WIDTH, _HEIGHT = 640, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 90, 30, 45
_TICKS = 4


def front_picture(binary: BinarySummary) -> Markup:
    """Return an SVG plot of the builds of `binary` and of the baseline, whose speed is 1."""
    rival = binary.sizes[binary.rival]["text"]
    rows = [row for row in binary.front if row.code != rival or row.speed["speedup"] != 1]
    codes = [rival, *(row.code for row in rows)]
    speeds = [1.0, *(_low(row) for row in rows), *(_high(row) for row in rows)]
    across, up = _with_margin(min(codes), max(codes)), _with_margin(min(speeds), max(speeds))

    def x(code: float) -> float:
        part = (code - across[0]) / (across[1] - across[0])
        return _LEFT + part * (_WIDTH - _LEFT - _RIGHT)

    def y(speed: float) -> float:
        return _HEIGHT - _BOTTOM - (speed - up[0]) / (up[1] - up[0]) * (_HEIGHT - _TOP - _BOTTOM)

    def draw() -> Iterator[str]:
        for at in range(_TICKS + 1):
            code = across[0] + (across[1] - across[0]) * at / _TICKS
            speed = up[0] + (up[1] - up[0]) * at / _TICKS
            yield _label(x(code), _HEIGHT - _BOTTOM + 18, f"{code / 1000:,.1f} kB", "middle")
            yield _label(_LEFT - 8, y(speed) + 4, f"{speed:.2f}", "end")
        yield _label(8, 12, "times as fast")
        yield _label(_WIDTH - _RIGHT, _HEIGHT - 8, "code", "end")
        yield _svg_line("axis", x(across[0]), y(1), x(across[1]), y(1))
        yield _svg_line("axis", x(rival), y(up[0]), x(rival), y(up[1]))
        points = " ".join(f"{x(row.code):.1f},{y(row.speed['speedup']):.1f}" for row in rows)
        yield f'<polyline class="front" points="{points}"/>'
        yield _point("before", x(rival), y(1), 5)
        yield _label(x(rival) + 8, y(1) - 7, "baseline")
        for row in rows:
            at, height = x(row.code), y(row.speed["speedup"])
            yield _svg_line("interval", at, y(_low(row)), at, y(_high(row)))
            yield _point("after" if row.is_recommended else "new", at, height, 6)
            # No other build is to the upper left of a build, so the label has room there.
            kind = "name" if row.is_recommended else ""
            yield _label(at - 9, height - 8, row.name, "end", kind)

    label = f"{len(rows)} builds, from smallest to fastest"
    return Markup(
        f'<svg class="plot" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">'
        f"{''.join(draw())}</svg>"
    )


def _low(row: FrontRow) -> float:
    return row.speed.get("low", row.speed["speedup"])


def _high(row: FrontRow) -> float:
    return row.speed.get("high", row.speed["speedup"])


def _with_margin(low: float, high: float) -> tuple[float, float]:
    margin = max((high - low) * 0.1, abs(high) * 0.01)
    return low - margin, high + margin


def _label(x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> str:
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
    )


def _svg_line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _point(kind: str, x: float, y: float, radius: int) -> str:
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'
