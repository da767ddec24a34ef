# SPDX-License-Identifier: MIT
"""Draws the result: how large each program is, and how the search got there.

Matplotlib is imported on use; without it there is no plot, and the report says so.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from compiler_gym.envs.llvm.demonstration.comparison import Comparison, geometric_mean

__all__ = ["draw"]

_LEVELS = (("o0", "-O0", "#c9ced6"), ("o3", "-O3", "#8fa3bf"), ("oz", "-Oz", "#3d5a80"))
_FOUND = "#e07a1f"


def draw(rows: Sequence[Comparison], path: Path, *, seconds: float) -> None:
    """Write the picture to `path`; raise ImportError without matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    found = [row for row in rows if row.found]
    height = 1.6 + 0.55 * max(len(found), 3)
    figure, (left, right) = cast(Any, pyplot).subplots(
        1, 2, figsize=(12, height), width_ratios=(3, 2), layout="constrained"
    )
    _draw_sizes(left, found)
    _draw_course(right, found, seconds)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def _draw_sizes(axes: Any, rows: Sequence[Comparison]) -> None:
    places = range(len(rows))
    for i, (attribute, label, colour) in enumerate((*_LEVELS, ("found", "found", _FOUND))):
        widths = [100 * getattr(row, attribute) / row.oz for row in rows]
        heights = [place + (i - 1.5) * 0.2 for place in places]
        axes.barh(heights, widths, 0.19, label=label, color=colour)
        if attribute == "found":
            for row, height, width in zip(rows, heights, widths, strict=True):
                axes.text(
                    max(width, 100) + 3, height, f"{row.found:,}  ({-(row.saving or 0):+.1%})",
                    va="center", fontsize=8, color="#9c4f0c", weight="bold",
                )  # fmt: skip
    axes.axvline(100, color=_LEVELS[2][2], linewidth=1, linestyle=":")
    axes.set_yticks(list(places), [row.name for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel("instructions, in % of what -Oz leaves (less is better)")
    axes.set_title("Size of each program", loc="left", weight="bold")
    axes.legend(loc="lower right", fontsize=9, framealpha=0.95)
    _tidy(axes)


def _draw_course(axes: Any, rows: Sequence[Comparison], seconds: float) -> None:
    times = sorted({0.0, seconds, *(time for row in rows for time, _ in row.history)})
    for row in rows:
        course = [100 * (row.oz / _at(row, time) - 1) for time in times]
        axes.step(times, course, where="post", color="#b8bfca", linewidth=1)
    means = [geometric_mean(row.oz / _at(row, time) for row in rows) for time in times]
    percent = [100 * ((mean or 1) - 1) for mean in means]
    axes.step(times, percent, where="post", color=_FOUND, linewidth=2.2, label="geometric mean")
    axes.plot([], [], color="#b8bfca", label="one program")
    axes.axhline(0, color=_LEVELS[2][2], linewidth=1, linestyle=":")
    axes.annotate(
        "-Oz", (seconds, 0), (-4, -5), textcoords="offset points",
        ha="right", va="top", fontsize=9, color=_LEVELS[2][2],
    )  # fmt: skip
    axes.set_ylim(bottom=min(-1.5, percent[-1] if percent else 0))
    axes.set_xlim(0, seconds)
    axes.set_xlabel("seconds of search")
    axes.set_ylabel("COz/C - 1, in %")
    axes.set_title("How the search got there", loc="left", weight="bold")
    axes.legend(loc="upper left", fontsize=9, bbox_to_anchor=(0, -0.12), ncols=2, frameon=False)
    _tidy(axes)


def _at(row: Comparison, time: float) -> int:
    """Return the best count known at `time`."""
    counts = [count for moment, count in row.history if moment <= time]
    return min([row.baseline, *counts])


def _tidy(axes: Any) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(axis="x", alpha=0.25)
    axes.set_axisbelow(True)
