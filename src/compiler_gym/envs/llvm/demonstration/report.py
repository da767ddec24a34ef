# SPDX-License-Identifier: MIT
"""Prints the result of the demonstration and writes it down."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from compiler_gym.envs.llvm.demonstration.comparison import METRICS, Comparison, summary
from compiler_gym.envs.llvm.demonstration.display import saving_bar, table_of
from compiler_gym.search import write_json

__all__ = ["print_conclusion", "print_table", "write"]

_BAR = 12
"""The columns of the longest bar."""
_SAVING = METRICS[2]


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


def print_table(console: Console, rows: Sequence[Comparison], *, opt: str | None) -> None:
    """Print the instructions of each program and how much smaller than -Oz it became."""
    headings = (
        "Program", " -O0", " -O3", " -Oz", " Found", "Smaller than -Oz", f" {opt or 'opt'} says",
    )  # fmt: skip
    table = table_of(headings)
    table.title, table.title_justify, table.title_style = "Instructions", "left", "bold"
    table.collapse_padding, table.columns[0].no_wrap = True, True
    table.columns[4].style = "bold green"
    for row in rows:
        counts = (row.o0, row.o3, row.oz, row.found)
        numbers = (f"{count:,}" for count in counts)
        table.add_row(row.name, *numbers, saving_bar(row.saving, _BAR), _verdict(row))
    console.print(table)
    for row in rows:
        _print_notes(console, row)


def print_conclusion(
    console: Console, rows: Sequence[Comparison], *, opt: str | None, files: Sequence[Path]
) -> None:
    """Say in three sentences what was found, whether it is true, and where it lies."""
    saving = summary(rows)[_SAVING]
    best = max(rows, key=lambda row: row.saving or 0.0, default=None)
    if saving is not None and best is not None and best.saving is not None:
        console.print(
            f"On average {saving:.1%} fewer instructions than clang -Oz leaves; "
            f"most on {best.name}, {best.saving:.1%}."
        )
    checked = [row.is_reproduced for row in rows if row.is_reproduced is not None]
    if checked:
        console.print(
            f"{opt} alone makes {sum(checked)} of these {len(checked)} programs the same again."
        )
    if opt is not None and len(checked) < len(rows):
        console.print(
            f"Not checked with {opt}: {len(rows) - len(checked)} of {len(rows)} programs."
        )
    is_drawn = any(file.suffix in (".png", ".svg") for file in files)
    picture = "The picture, the" if is_drawn else "The"
    console.print(f"{picture} figures that papers use, and the commands of opt:")
    for file in reversed(files):
        console.print(f"  {file}", soft_wrap=True)


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
