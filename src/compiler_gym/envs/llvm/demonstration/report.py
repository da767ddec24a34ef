# SPDX-License-Identifier: MIT
"""Prints the result of the demonstration and writes it down."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from compiler_gym.envs.llvm.demonstration.comparison import (
    METRICS,
    PUBLISHED_METRIC,
    Comparison,
    summary,
)
from compiler_gym.envs.llvm.demonstration.display import table_of
from compiler_gym.search import write_json

__all__ = ["print_commands", "print_table", "write"]


def write(directory: Path, rows: Sequence[Comparison], facts: dict[str, Any]) -> list[Path]:
    """Write the results as JSON and the commands as a shell script; return both files."""
    results = write_json(
        directory / "results.json",
        {**facts, "geometric_means": summary(rows), "programs": [row.to_json() for row in rows]},
    )
    script = directory / "reproduce.sh"
    lines = ["#!/bin/sh", 'cd "$(dirname "$0")" || exit 1', "set -ex"]
    lines += [row.command for row in rows if row.command]
    script.write_text("\n".join(lines) + "\n", encoding="utf-8")
    script.chmod(0o755)
    return [results, script]


def print_commands(console: Console, rows: Sequence[Comparison]) -> None:
    """Print the command that reproduces each result."""
    for row in rows:
        if row.command:
            console.print(row.name, style="bold", markup=False)
            console.print(row.command, style="dim", markup=False, soft_wrap=True)


def print_table(console: Console, rows: Sequence[Comparison], *, opt: str | None) -> None:
    """Print the comparison and the geometric means: what fits on 80 columns."""
    headings = (
        "Program", " -O0", " -O3", " -Oz", " OptOz", " found", " share,\nOz", " COz/C",
        " share,\nOptOz", f" {opt or 'opt'}\nsays",
    )  # fmt: skip
    table = table_of(headings)
    table.title, table.title_justify, table.title_style = (
        "Instructions of each program",
        "left",
        "bold",
    )
    table.show_footer, table.collapse_padding, table.columns[0].no_wrap = True, True, True
    table.columns[0].footer, table.columns[5].style = "geomean", "bold green"
    means = summary(rows)
    for column, metric in enumerate((*METRICS[:2], PUBLISHED_METRIC), start=6):
        table.columns[column].footer = _metric(means[metric])
    for row in rows:
        counts = (row.o0, row.o3, row.oz, row.opt_oz, row.found)
        metrics = (row.cost.share, row.cost.ratio, row.cost.published_share)
        numbers = ("-" if count is None else f"{count:,}" for count in counts)
        table.add_row(row.name, *numbers, *map(_metric, metrics), _verdict(row))
    console.print(table)
    console.print(
        "C0, COz, C: instructions at -O0, at -Oz, found. OptOz: after opt's -Oz without "
        "size attributes, with which papers compare. Share, Oz: (C0-C)/(C0-COz); OptOz: "
        f"{PUBLISHED_METRIC}.",
        style="dim",
    )
    for row in rows:
        _print_notes(console, row)


def _metric(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _verdict(row: Comparison) -> Text:
    if row.is_reproduced is None:
        return Text("-", style="dim")
    if row.is_reproduced:
        return Text(f"{row.counted:,} ✓", style="green")
    return Text(f"{'failed' if row.problem else f'{row.counted:,}'} ✗", style="bold red")


def _print_notes(console: Console, row: Comparison) -> None:
    notes: list[str] = []
    if row.found > row.oz:
        notes.append(
            "nothing beats clang -Oz yet: opt's -Oz pipeline, where the search starts, is not "
            "quite clang's. A longer --time helps."
        )
    if row.problem:
        notes.append(f"the command failed: {row.problem}")
    elif row.is_reproduced is False:
        notes.append(f"the search counted {row.found}, opt counts {row.counted}")
    for note in notes:
        console.print(f"{row.name}: {note}", style="yellow")
