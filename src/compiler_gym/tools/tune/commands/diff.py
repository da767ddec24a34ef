# SPDX-License-Identifier: MIT
"""``compiler-gym tune diff``."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compiler_gym.cli.kit.output import Json, heading, output, print_json, show, style_text, table

if TYPE_CHECKING:
    from rich.table import Table

    from compiler_gym.tools.tune import BinaryDifference, PlanDifference

__all__ = ["WORSE", "diff", "run_diff"]

WORSE = 1
"""The exit status if the second result is larger."""


def run_diff(words: Sequence[str]) -> None:
    """Run ``tune diff`` with the arguments `words`."""
    command = typer.Typer(rich_markup_mode=None, add_completion=False)
    command.command("diff", context_settings={"help_option_names": ["-h", "--help"]})(diff)
    status = command(list(words), prog_name="compiler-gym tune diff", standalone_mode=False)
    if status:
        raise typer.Exit(status)


def diff(
    first: Annotated[Path, typer.Argument(metavar="A", help="Output folder or tuned.toml.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another one.")],
    json: Json = False,
) -> None:
    """Compare two tuned builds: files, sizes, decisions and sources.

    Exit status: 0 if B is not larger than A, 1 if a file is larger in B or missing there, 2 if
    A or B cannot be read.
    """
    from compiler_gym.tools.tune import compare_plans, read_tuned

    difference = compare_plans(read_tuned(first), read_tuned(second))
    if json:
        print_json(difference.to_json())
    else:
        _show(difference)
    if difference.is_worse:
        raise typer.Exit(WORSE)


def _show(difference: "PlanDifference") -> None:
    console = output()
    for name, (old, new) in difference.settings.items():
        console.print(f"{name}: {old} -> {new}", soft_wrap=True)
    if difference.binaries:
        show(_sizes(difference), console)
    for binary in difference.binaries:
        lines = list(_lines(binary))
        if lines:
            console.print(heading(binary.name), soft_wrap=True)
        for line in lines:
            console.print(f"  {line}", soft_wrap=True)
    for name in difference.only_first:
        console.print(f"only in A: {name}", soft_wrap=True)
    for name in difference.only_second:
        console.print(f"only in B: {name}", soft_wrap=True)
    differs = difference.only_first or difference.only_second or difference.settings
    if not differs and all(binary.is_same for binary in difference.binaries):
        console.print("no differences")


def _sizes(difference: "PlanDifference") -> "Table":
    from compiler_gym.tools.tune import Measure, share

    rows = table("Binary", "Bytes", "A", "B", "B is", right=("A", "B"), typed=("Binary",),
                 title="Tuned, in bytes")  # fmt: skip
    for binary in difference.binaries:
        name = binary.name
        for measure in Measure:
            first, second = binary.sizes.get(measure.key, (None, None))
            if first is None and second is None:
                continue
            change = "" if first is None or second is None else share(first, second)
            colour = "yellow" if change.endswith("larger") else "green"
            style = "bold" if measure is binary.measure else ""
            cells = (
                style_text(text, style) for text in (measure.label, *map(_number, (first, second)))
            )
            rows.add_row(name, *cells, style_text(change, colour))
            name = ""
    return rows


def _number(size: int | None) -> str:
    return "" if size is None else f"{size:,}"


def _lines(binary: "BinaryDifference") -> Iterator[str]:
    if binary.has_other_passes:
        yield "different passes"
    yield from (f"- {name}" for name in binary.only_first)
    yield from (f"+ {name}" for name in binary.only_second)
    for label, paths in (
        ("changed", binary.changed_sources),
        ("removed", binary.sources_gone),
        ("added", binary.sources_new),
    ):
        if paths:
            yield f"sources {label}: {', '.join(paths)}"
