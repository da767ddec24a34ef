# SPDX-License-Identifier: MIT
"""Show a tuning: its progress on standard error, and its results on standard output.

Progress is live on a terminal, and occasional lines elsewhere.
"""

import math
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from compiler_gym.cli.kit.interrupts import Interrupts
from compiler_gym.cli.kit.output import heading, output, print_command, show, style_text, table
from compiler_gym.tools.tune import Allowance, Goal, Measure, Tried, TuningWatcher

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.table import Table

    from compiler_gym.tools.tune import BinarySummary, Goal, TuningSummary

_LINE_EVERY = 10.0
_LISTED = 8
"""The maximum number of other linked files or decisions to list by name."""


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
                console=self._console,
                get_renderable=self._picture,
                refresh_per_second=4,
                transient=True,
            )
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
        best = (f" ({self._best(row)})" for row in self._rows.values() if not row.is_done)
        self._print(text + "".join(best))

    def builds(self, line: str) -> None:
        """Show the last line of the build."""
        self._interrupts.check()
        self._line = line

    def rivals(self, binary: str, sizes: Mapping[str, int]) -> None:
        """Show the sizes to beat."""
        for row in self._rows.values():
            row.is_done = True
        best = [*sizes.values()][-1] if self._goal.counts_bytes else math.inf
        self._rows[binary] = _Row(sizes, best=best)
        self._print(f"{binary}: bytes to beat{self._counted}")
        for name, size in sizes.items():
            self._print(f"  {size:>11,}  {name}")

    def tries(self, binary: str, stage: str, best: Tried, allowance: Allowance) -> None:
        """Show the best so far."""
        row = self._rows.setdefault(binary, _Row({}))
        is_new, row.stage = stage != row.stage, stage
        row.best, row.allowance = min(row.best, best.cost), allowance
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
        text = f"best so far {self._goal.format_cost(row.best)}"
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
        left = round(allowance.seconds_to_end)
        return f"{left // 60}:{left % 60:02}" if left >= 60 else f"{left} s"
    return f"{allowance.compilations_left:,} tries"


def show_summary(summary: "TuningSummary") -> None:
    """Print the whole summary."""
    from compiler_gym.tools.tune import Goal

    console, goal = output(), Goal(summary.goal)
    for binary in summary.binaries:
        show(_size_table(binary), console)
        for line in _remarks(binary, goal):
            console.print(line, soft_wrap=True)
    if summary.others:
        names = ", ".join(summary.others[:_LISTED])
        hidden = len(summary.others) - _LISTED
        console.print(
            heading(
                "Also linked by this build: ",
                names + (f" and {hidden} others" if hidden > 0 else "") + ": use --binary NAME",
            ),
            soft_wrap=True,
        )
    if summary.check is None and summary.run is None:
        console.print(
            heading("Not tested: ", "add --check 'make check', or --run with a command"),
            soft_wrap=True,
        )
    if summary.is_interrupted:
        console.print("interrupted: these are the results so far", style="yellow")
    _show_next(summary)


def _size_table(binary: "BinarySummary") -> "Table":
    from compiler_gym.tools.tune import columns, share

    shown, key = columns(binary.sizes), binary.measure.key
    numbers = tuple(m.label for m in shown)
    rows = table(
        "Built with", *numbers, "Tuned is", right=numbers, title=f"{binary.name}: bytes, stripped"
    )
    tuned = binary.sizes["tuned"]
    for name, sizes in binary.sizes.items():
        is_tuned = name == "tuned"
        style = "bold" if is_tuned else ""
        against = "" if is_tuned else share(sizes[key], tuned[key])
        colour = "green" if against.endswith("smaller") else "yellow"
        rows.add_row(
            style_text(name, style),
            *(style_text(f"{sizes[m.key]:,}", style) for m in shown),
            style_text(against, colour),
        )
    return rows


def _remarks(binary: "BinarySummary", goal: "Goal") -> list[str]:
    lines: list[str] = []
    if binary.speed.get("confirm_speedup", 1.0) < 1:
        lines += binary.notes[:1]  # a loss in the held-out run comes first
    if not binary.is_better:
        lines.append(
            f"found nothing {goal.better} than {binary.rival} in {binary.tried:,} compilations"
        )
    if "speedup" in binary.speed:
        speed = binary.speed
        between = f" ({speed['low']:.3f} to {speed['high']:.3f})" if "low" in speed else ""
        lines.append(f"{speed['speedup']:.3f} times as fast as {binary.rival}{between}")
    gains = sorted((d.gain, d.name) for d in binary.decisions if d.gain is not None and d.gain > 0)
    if gains:
        listed = ", ".join(f"{name} {gain:,}" for gain, name in reversed(gains[-_LISTED:]))
        lines.append(f"Savings lost if one decision is removed: {listed}")
    if names := binary.not_measured:
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        lines.append(f"Gain not measured: {', '.join(names[:_LISTED])}{more}")
    lines += [f"reverted {name}: a test fails with it" for name in binary.taken_back]
    return list(dict.fromkeys([*lines, *binary.notes]))


def _show_next(summary: "TuningSummary") -> None:
    from compiler_gym.tools.tune.builds import debug_name

    console = output()
    folder = _short(Path(summary.folder))
    rows = table("File", "Contents", typed=("File",), title=f"In {folder}")
    for binary in summary.binaries:
        rows.add_row(binary.file, "the tuned binary, stripped")
        debug = debug_name(binary.file)
        if (Path(summary.folder) / debug).is_file():
            rows.add_row(debug, "its debug information, where debuggers look for it")
        rows.add_row(f"work/tree/{binary.name}", "the project's own build")
    rows.add_row("report.html", "the gain from each decision, and sizes by function")
    rows.add_row("tuned.toml", "the plan: every decision")
    rows.add_row("reproduce.sh", "a script that produces the same bytes without this library")
    if (Path(summary.folder) / "plugin").is_dir():
        rows.add_row("plugin", "the size plug-in that the script loads, and its source")
    show(rows, console)
    console.print(style_text("Next:", "bold"))
    for command in _commands(summary, folder):
        print_command(command, console)
    if summary.rebuild:
        console.print("In a clean tree, this build produces the same file:", soft_wrap=True)
        print_command(summary.rebuild, console)


def _commands(summary: "TuningSummary", folder: Path) -> list[str]:
    return [
        *(
            shlex.quote(
                f"./{folder / b.file}" if not folder.is_absolute() else str(folder / b.file)
            )
            for b in summary.binaries
        ),
        shlex.join(["sh", str(folder / "reproduce.sh"), str(folder / "work" / "tree")]),
    ]


def _short(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) and path != here else path
