# SPDX-License-Identifier: MIT
"""Draws the result: how large each program is, and how the search got there.

Matplotlib is imported on use; without it there is no plot, and the report says so.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from compiler_gym.envs.llvm.demonstration.comparison import Comparison, mean_of

__all__ = ["draw"]

_BARS = (
    ("o0", "-O0", "#c9ced6"), ("o3", "-O3", "#8fa3bf"), ("oz", "-Oz", "#3d5a80"),
    ("found", "found", "#e07a1f"),
)  # fmt: skip
_OZ, _FOUND = _BARS[2][2], _BARS[3][2]
_ONE = "#b8bfca"
_INCHES = 8.5
"""The width: a page shows it with about 87 pixels to the inch, at which 9 points can be read."""


def draw(rows: Sequence[Comparison], path: Path, *, seconds: float) -> None:
    """Write the picture to `path`; raise ImportError without matplotlib."""
    from matplotlib import figure as drawing  # not pyplot, which keeps every figure

    found = [row for row in rows if row.found]
    height = 1.4 + 0.45 * max(len(found), 4)
    figure = cast(Any, drawing.Figure(figsize=(_INCHES, height), layout="constrained"))
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    _draw_sizes(left, found)
    _draw_course(right, found, seconds)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="x", alpha=0.25)
        axes.set_axisbelow(True)
    figure.savefig(path, dpi=200)


def _draw_sizes(axes: Any, rows: Sequence[Comparison]) -> None:
    places = range(len(rows))
    for i, (attribute, label, colour) in enumerate(_BARS):
        widths = [100 * getattr(row, attribute) / row.oz for row in rows]
        heights = [place + (i - 1.5) * 0.2 for place in places]
        axes.barh(heights, widths, 0.19, label=label, color=colour)
    for place, row in enumerate(rows):
        axes.text(
            max(100 * row.found / row.oz, 100) + 4, place + 0.32,
            f"{row.found:,} ({-(row.saving or 0):+.1%})",
            va="center", fontsize=9, color="#9c4f0c", weight="bold",
        )  # fmt: skip
    axes.axvline(100, color=_OZ, linewidth=1, linestyle=":")
    axes.set_yticks(list(places), [row.name for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel("instructions, in % of clang -Oz (less is better)")
    axes.set_title("Size of each program", loc="left", weight="bold")
    axes.set_xlim(right=1.3 * axes.get_xlim()[1])  # room for the legend
    axes.legend(loc="upper right", fontsize=9, framealpha=0.95)


def _draw_course(axes: Any, rows: Sequence[Comparison], seconds: float) -> None:
    times = sorted({0.0, seconds, *(time for row in rows for time, _ in row.history)})
    for row in rows:
        course = [100 * (row.oz / _count_at(row, time) - 1) for time in times]
        axes.step(times, course, where="post", color=_ONE, linewidth=1)
    means = [mean_of(row.oz / _count_at(row, time) for row in rows) for time in times]
    percent = [100 * ((mean or 1) - 1) for mean in means]
    axes.step(times, percent, where="post", color=_FOUND, linewidth=2.2, label="geometric mean")
    axes.plot([], [], color=_ONE, label="one program")
    axes.axhline(0, color=_OZ, linewidth=1, linestyle=":")
    axes.annotate(
        "-Oz", (seconds, 0), (-4, -5), textcoords="offset points",
        ha="right", va="top", fontsize=9, color=_OZ,
    )  # fmt: skip
    axes.set_ylim(bottom=min(-0.8, *percent))
    axes.set_xlim(0, seconds)
    axes.set_xlabel("seconds of search")
    axes.set_ylabel("how much larger -Oz is, in %")
    axes.set_title("How the search got there", loc="left", weight="bold")
    axes.legend(loc="upper left", fontsize=9, bbox_to_anchor=(-0.05, -0.13), ncols=2, frameon=False)


def _count_at(row: Comparison, time: float) -> int:
    """Return the best count known at `time`."""
    return min([row.baseline, *(count for moment, count in row.history if moment <= time)])
