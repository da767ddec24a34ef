# SPDX-License-Identifier: MIT
"""Print the results of a tuning: a table of sizes, the written files, and next steps."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from compiler_gym.cli.kit.output import heading, output, print_command, show, style_text, table

if TYPE_CHECKING:
    from rich.table import Table

    from compiler_gym.tools.tune import BinarySummary, Goal, TuningSummary

__all__ = ["show_summary"]

_SHOWN = 8
"""The maximum number of other linked files or decisions to list by name."""


def show_summary(summary: "TuningSummary") -> None:
    """Print the whole summary."""
    from compiler_gym.tools.tune import Goal

    console, goal = output(), Goal(summary.goal)
    for binary in summary.binaries:
        show(_sizes(binary), console)
        for line in _remarks(binary, goal):
            console.print(line, soft_wrap=True)
    if summary.others:
        names = ", ".join(summary.others[:_SHOWN])
        hidden = len(summary.others) - _SHOWN
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


def _sizes(binary: "BinarySummary") -> "Table":
    from compiler_gym.tools.tune import columns, share

    shown, key = columns(binary.sizes), binary.measure.key
    numbers = tuple(m.label for m in shown)
    rows = table("Built with", *numbers, "Tuned is", right=numbers,
                 title=f"{binary.name}: bytes, stripped")  # fmt: skip
    tuned = binary.sizes["tuned"]
    for name, sizes in binary.sizes.items():
        is_tuned = name == "tuned"
        style = "bold" if is_tuned else ""
        against = "" if is_tuned else share(sizes[key], tuned[key])
        colour = "green" if against.endswith("smaller") else "yellow"
        rows.add_row(
            style_text(name, style), *(style_text(f"{sizes[m.key]:,}", style) for m in shown),
            style_text(against, colour),
        )  # fmt: skip
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
        listed = ", ".join(f"{name} {gain:,}" for gain, name in reversed(gains[-_SHOWN:]))
        lines.append(f"Savings lost if one decision is removed: {listed}")
    if names := binary.not_measured:
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        lines.append(f"Gain not measured: {', '.join(names[:_SHOWN])}{more}")
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
    show(rows, console)
    console.print(style_text("Next:", "bold"))
    for command in _commands(summary, folder):
        print_command(command, console)
    if summary.rebuild:
        console.print("In a clean tree, this build produces the same file:", soft_wrap=True)
        print_command(summary.rebuild, console)


def _commands(summary: "TuningSummary", folder: Path) -> list[str]:
    return [
        *(shlex.quote(f"./{folder / b.file}" if not folder.is_absolute() else str(folder / b.file))
          for b in summary.binaries),
        shlex.join(["sh", str(folder / "reproduce.sh"), str(folder / "work" / "tree")]),
    ]  # fmt: skip


def _short(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) and path != here else path
