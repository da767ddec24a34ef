# SPDX-License-Identifier: MIT
"""Show a running tuning on standard error: live on a terminal, as occasional lines elsewhere."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compiler_gym.cli.kit.interrupts import Interrupts
from compiler_gym.cli.kit.output import style_text
from compiler_gym.tools.tune import Allowance, Goal, Measure, Tried, TuningWatcher

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

__all__ = ["TuningDisplay"]

_LINE_EVERY = 10.0


@dataclass
class _Row:
    """The progress of one binary."""

    rivals: Mapping[str, int]
    stage: str = ""
    best: float = math.inf
    allowance: Allowance | None = None
    next_line: float = 0.0
    is_done: bool = False


class TuningDisplay(TuningWatcher):
    """A watcher that displays progress, and stops a build on Ctrl-C."""

    def __init__(
        self,
        console: "Console",
        interrupts: Interrupts,
        *,
        goal: Goal,
        measure: Measure = Measure.LOADED,
        is_quiet: bool = False,
    ) -> None:
        self._console, self._interrupts, self._goal = console, interrupts, Goal(goal)
        self._counted = f" ({Measure(measure)})" if self._goal.counts_bytes else ""
        self._is_quiet = is_quiet
        self._step = self._line = ""
        self._rows: dict[str, _Row] = {}
        self._live: Live | None = None

    def __enter__(self) -> "TuningDisplay":
        if self._console.is_terminal and not self._is_quiet:
            from rich.live import Live

            self._live = Live(
                console=self._console, get_renderable=self._picture, refresh_per_second=4,
                transient=True,
            )  # fmt: skip
            self._live.start()
        return self

    def __exit__(self, *args: object) -> None:
        if self._live is not None:
            self._live.stop()

    def says(self, text: str) -> None:
        """Show the step that begins."""
        if not self._rows:  # there are no results to write yet
            self._interrupts.check()
        self._step, self._line = text, ""
        self._print(text)

    def builds(self, line: str) -> None:
        """Show the last line of the build."""
        self._interrupts.check()
        self._line = line

    def rivals(self, binary: str, sizes: Mapping[str, int]) -> None:
        """Show the sizes to beat."""
        for row in self._rows.values():
            row.is_done = True
        self._rows[binary] = _Row(sizes)
        self._print(f"{binary}: bytes to beat{self._counted}")
        for name, size in sizes.items():
            self._print(f"  {size:>11,}  {name}")

    def tries(self, binary: str, stage: str, best: Tried, allowance: Allowance) -> None:
        """Show the best so far."""
        row = self._rows.setdefault(binary, _Row({}))
        is_new, row.stage = stage != row.stage, stage
        row.best, row.allowance = best.cost, allowance
        now = time.monotonic()
        if is_new or now >= row.next_line:
            row.next_line = now + _LINE_EVERY
            self._print(f"{binary}: {stage}: {self._best(row)}, {_write_spent(row)}")

    def _print(self, line: str) -> None:
        if self._live is None and not self._is_quiet:
            self._console.print(line, soft_wrap=not self._console.is_terminal)

    def _best(self, row: _Row) -> str:
        if math.isinf(row.best):
            return "nothing measured yet"
        text = f"best {self._goal.format_cost(row.best)}"
        fair = list(row.rivals.values() or [0])[-1]
        if not fair or not self._goal.counts_bytes:
            return text
        return f"{text} ({row.best / fair - 1:+.1%})"

    def _picture(self) -> "RenderableType":
        from rich.console import Group
        from rich.spinner import Spinner
        from rich.text import Text

        step = "stopping: writing the results" if self._interrupts.requested else None
        lines: list[RenderableType] = [Spinner("dots", Text(step or self._step))]
        if self._line:
            lines.append(Text(f"  {self._line}", style="dim", no_wrap=True, overflow="ellipsis"))
        if self._rows:
            lines.append(self._table())
            hint = "Ctrl-C ends the search and writes the best result so far"
            again = "Ctrl-C again stops at once; --resume continues"
            lines.append(Text(again if self._interrupts.requested else hint, style="dim"))
        return Group(*lines)

    def _table(self) -> "RenderableType":
        from rich import box
        from rich.table import Table

        unit = f"Best so far ({self._goal.unit})"
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
        table.add_column("Binary")
        table.add_column("Stage")
        for column in ("To beat (bytes)", unit, "Change", "Tried", "Left"):
            table.add_column(column, justify="right")
        for name, row in self._rows.items():
            fair = list(row.rivals.values())[-1] if row.rivals else 0
            is_known = not math.isinf(row.best)
            is_comparable = fair and is_known and self._goal.counts_bytes
            change = row.best / fair - 1 if is_comparable else None
            best = self._goal.number(row.best)
            table.add_row(
                name,
                "done" if row.is_done else row.stage,
                f"{fair:,}" if fair else "",
                style_text(best if is_known else "", "bold"),
                "" if change is None else _colour(change),
                "" if row.allowance is None else f"{row.allowance.used:,}",
                "" if row.is_done else _left(row.allowance),
            )
        return table


def _colour(change: float) -> "RenderableType":
    return style_text(f"{change:+.1%}", "green" if change < 0 else "yellow")


def _write_spent(row: _Row) -> str:
    used = 0 if row.allowance is None else row.allowance.used
    left = _left(row.allowance)
    return f"{used:,} tried" + (f", {left} left" if left else "")


def _left(allowance: Allowance | None) -> str:
    if allowance is None:
        return ""
    if allowance.seconds is not None:
        left = round(allowance.seconds_left)
        return f"{left // 60}:{left % 60:02}" if left >= 60 else f"{left} s"
    return f"{allowance.compilations_left:,} tries"
