# SPDX-License-Identifier: MIT
"""Prints the result of the demonstration and writes it down."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from compiler_gym.envs.llvm.demonstration.comparison import (
    PUBLISHED_METRIC,
    Comparison,
    summary,
)
from compiler_gym.search import write_json

__all__ = ["print_commands", "print_table", "write"]

_SHOWN = {
    "(C0-C)/(C0-COz)": "share,\nOz",
    "COz/C": "COz/C",
    PUBLISHED_METRIC: "share,\nOptOz",
}
"""The metrics that fit beside the counts on 80 columns, and their headings."""


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
    """Print the comparison and the geometric means."""
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, header_style="bold",
        show_footer=True,
        title="Instructions of each program", title_justify="left", title_style="bold",
    )  # fmt: skip
    means = summary(rows)
    table.add_column("Program", footer="geomean", no_wrap=True)
    for level in ("-O0", "-O3", "-Oz", "OptOz"):
        table.add_column(level, justify="right")
    table.add_column("found", justify="right", style="bold green")
    for metric, heading in _SHOWN.items():
        table.add_column(heading, justify="right", footer=_metric(means[metric]))
    table.add_column(f"{opt or 'opt'}\nsays", justify="right")
    for row in rows:
        values = (row.share_of_saving, row.ratio, row.published_share)
        table.add_row(
            row.name,
            f"{row.o0:,}",
            f"{row.o3:,}",
            f"{row.oz:,}",
            "-" if row.opt_oz is None else f"{row.opt_oz:,}",
            f"{row.found:,}",
            *map(_metric, values),
            _verdict(row),
        )
    console.print(table)
    console.print(
        "C0, COz, C: instructions at -O0, at -Oz, found. OptOz: after opt's -Oz without "
        "size attributes, with which papers compare. Share, Oz: (C0-C)/(C0-COz); OptOz: "
        f"{PUBLISHED_METRIC}.",
        style="dim",
    )
    for note in _notes(rows):
        console.print(note, style="yellow")


def _metric(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _verdict(row: Comparison) -> Text:
    if row.is_reproduced is None:
        return Text("-", style="dim")
    if row.is_reproduced:
        return Text(f"{row.counted:,} ✓", style="green")
    return Text(f"{'failed' if row.problem else f'{row.counted:,}'} ✗", style="bold red")


def _notes(rows: Sequence[Comparison]) -> list[str]:
    notes: list[str] = []
    for row in rows:
        if row.found > row.oz:
            notes.append(
                f"{row.name}: nothing beats clang -Oz yet: opt's -Oz pipeline, where the search "
                "starts, is not quite clang's. A longer --time helps."
            )
        if row.problem:
            notes.append(f"{row.name}: the command failed: {row.problem}")
        elif row.is_reproduced is False:
            notes.append(f"{row.name}: the search counted {row.found}, opt counts {row.counted}")
    return notes
