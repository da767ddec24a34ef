# SPDX-License-Identifier: MIT
"""The report of a tuning as one HTML file, in light or dark colours, and readable on a phone."""

import shlex
from collections.abc import Iterator, Sequence

from compiler_gym.tools.tune.goal import Goal
from compiler_gym.tools.tune.html import render_page
from compiler_gym.tools.tune.measure import columns
from compiler_gym.tools.tune.plan import PLAN_FILE
from compiler_gym.tools.tune.summary import TUNED, BinarySummary, TuningSummary, share
from compiler_gym.tools.tune.tuner import FunctionSize

__all__ = ["page"]

_MOST_BARS = 30
"""The number of functions in the picture; the table below it lists every function."""


def page(summary: TuningSummary) -> str:
    """Return the HTML page for `summary`."""

    def gain(binary: BinarySummary) -> str:
        return binary.change if Goal(summary.goal).counts_bytes else "faster"

    return render_page(
        "report.html",
        title=f"{', '.join(binary.name for binary in summary.binaries)}, tuned for {summary.goal}",
        summary=summary,
        gain=gain,
        columns=columns,
        share=share,
        largest_changes=_largest_changes,
        max_size=_max_size,
        settings=_settings,
        TUNED=TUNED,
        PLAN_FILE=PLAN_FILE,
    )


def _largest_changes(functions: Sequence[FunctionSize]) -> list[FunctionSize]:
    """Return the functions whose size changed most, the largest function first."""
    changed = [f for f in functions if f.before != f.after]
    changed.sort(key=lambda f: (-abs(f.before - f.after), f.name))
    return sorted(changed[:_MOST_BARS], key=lambda f: (-_max_size(f), f.name))


def _max_size(function: FunctionSize) -> int:
    return max(function.before, function.after)


def _settings(summary: TuningSummary) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each setting; the text of an unused setting is empty."""
    limits = [
        f"{summary.seconds:g} seconds" if summary.seconds is not None else "",
        f"{summary.compilations:,} compilations" if summary.compilations is not None else "",
    ]
    yield "Build command", shlex.join(summary.build)
    yield "Test command", summary.check or ""
    yield "Run command", summary.run or ""
    yield "Search", f"{', '.join(filter(None, limits))}, seed {summary.seed}"
    yield "Also linked by this build", ", ".join(summary.others)
