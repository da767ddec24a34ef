# SPDX-License-Identifier: MIT
"""Shows the running search: a live table on a terminal, a line now and then elsewhere."""

from collections.abc import Sequence
from typing import Protocol

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from compiler_gym.envs.llvm.demonstration.comparison import Comparison, mean_of
from compiler_gym.search import Improvement, Progress

__all__ = ["Display", "Interrupts", "saving_bar", "table_of"]

_LINE_EVERY = 10.0
_BAR = 8
_FULL_BAR = 0.10
"""The saving over -Oz that fills a bar."""


class Interrupts(Protocol):
    """Ctrl-C as a request, as the command line hands it over."""

    @property
    def requested(self) -> bool:
        """Whether somebody asked to stop."""
        ...

    def check(self) -> None:
        """Raise ``KeyboardInterrupt`` if somebody asked to stop."""
        ...


def table_of(headings: Sequence[str]) -> Table:
    """Return a table; a heading that begins with a blank is one of numbers."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for heading in headings:
        numbers = heading.startswith(" ")
        table.add_column(heading.strip(), justify="right" if numbers else "left")
    return table


class Display:
    """A watcher that notes every improvement in the comparisons and shows them."""

    def __init__(
        self,
        console: Console,
        rows: Sequence[Comparison],
        *,
        seconds: float,
        jobs: int,
        interrupts: Interrupts,
    ) -> None:
        self._console = console
        self._rows = rows
        self._seconds = seconds
        self._jobs = jobs
        self._interrupts = interrupts
        self._next_line = 0.0
        self._live = Live(console=console, refresh_per_second=8, transient=True, auto_refresh=False)

    def __enter__(self) -> "Display":
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *args: object) -> None:
        self._live.stop()

    def improved(self, improvement: Improvement) -> None:
        """Note a better sequence."""
        row = self._rows[improvement.program]
        count = row.initial - round(improvement.reward)
        row.found = min(row.found, count)
        row.history.append((improvement.seconds, count))

    def tick(self, seconds: float, programs: Sequence[Progress]) -> None:
        """Show the state, and pass on Ctrl-C."""
        self._interrupts.check()
        if self._console.is_terminal:
            self._live.update(self._picture(seconds, programs), refresh=True)
        elif seconds >= self._next_line:
            self._next_line = seconds + _LINE_EVERY
            self._console.print(self._status(seconds, programs))

    def _picture(self, seconds: float, programs: Sequence[Progress]) -> RenderableType:
        table = table_of(("Program", " -Oz", " Best so far", " Smaller than -Oz", " Sequences", ""))
        table.columns[3].min_width, table.columns[5].min_width = _BAR + 8, 11
        for row, progress in zip(self._rows, programs, strict=True):
            bar, phase = saving_bar(row.saving, _BAR), Text(progress.phase, style="dim")
            sequences = f"{progress.sequences:,}"
            table.add_row(row.name, f"{row.oz:,}", f"{row.found:,}", bar, sequences, phase)
        return Group(
            table,
            Text(self._status(seconds, programs)),
            Padding(  # ends the line, which a bar alone does not
                ProgressBar(total=self._seconds, completed=min(seconds, self._seconds), width=40), 0
            ),
            Text("Ctrl-C stops the search and shows what was found.", style="dim"),
        )

    def _status(self, seconds: float, programs: Sequence[Progress]) -> str:
        sequences = sum(progress.sequences for progress in programs)
        mean = mean_of(row.cost.ratio for row in self._rows)
        against = f"{1 - 1 / mean:.1%} below -Oz" if mean else ""
        left = max(self._seconds - seconds, 0.0)
        return (
            f"{left:3.0f} s left   {sequences:,} sequences, "
            f"{sequences / max(seconds, 0.1):.0f}/s on {self._jobs} "
            f"core{'s' * (self._jobs != 1)}   {against}"
        )


def saving_bar(saving: float | None, width: int) -> Text:
    """Return a bar of at most `width` columns, and the saving in per cent."""
    if saving is None:
        return Text("-", style="dim")
    colour = "green" if saving > 0 else "yellow"
    text = Text("█" * round(min(max(saving / _FULL_BAR, 0.0), 1.0) * width), style=colour)
    return text.append(f" {saving:.1%}", style=f"bold {colour}" if saving > 0 else colour)
