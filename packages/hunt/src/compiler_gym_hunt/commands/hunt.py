# SPDX-License-Identifier: MIT
"""``compiler-gym hunt``: find optimisations that the compiler misses in real code."""

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer

from compiler_gym.cli.kit import completing as _completing
from compiler_gym.cli.kit.failures import INTERRUPTED
from compiler_gym.cli.kit.options import CompilerName
from compiler_gym.cli.kit.output import Json, errors, heading, output, print_json, show, table
from compiler_gym.lazy import part
from compiler_gym.options import seconds_in

__all__ = ["Hunter", "hunt"]

_SHOWN = 20


class Goal(Enum):
    """Cost to minimise."""

    SIZE = "size"
    INSTRUCTIONS = "instructions"
    CYCLES = "cycles"


class Hunter(Protocol):
    """The hunt that a compiler registers.

    Its constructor takes the location of the programs and an output folder, and the keywords
    ``goal``, ``says`` (prints progress) and ``is_interrupted`` (returns True to stop the hunt).
    """

    def run(self, *, seconds: float) -> dict[str, Any]:
        """Start or continue a hunt for `seconds`; write the findings and return a document."""
        ...

    def compare_versions(self, *, seconds: float) -> dict[str, Any]:
        """Compile every program with each version, and return the functions that grew."""
        ...


def hunt(
    where: Annotated[
        str,
        typer.Argument(
            metavar="PROJECT|CORPUS",
            help="A folder of programs, a folder with a compile_commands.json, or a dataset.",
            autocompletion=_completing.programs,
        ),
    ],
    goal: Annotated[Goal, typer.Option(help="Cost to minimise.")] = Goal.SIZE,
    output_dir: Annotated[
        Path, typer.Option("--output", help="Folder for findings; continues there if it exists.")
    ] = Path("hunt-results"),
    time: Annotated[str, typer.Option(help="Time limit: 90 (seconds), 10m or 1h.")] = "30m",
    compiler: CompilerName = None,
    versions: Annotated[
        bool,
        typer.Option(
            "--versions",
            help="List functions that grew from one compiler version to the next instead.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Find optimisations that the compiler misses in real code, each reduced and checked.

    Writes a draft report for each finding, and `report.html` for all of them. Nothing is sent
    anywhere. Ctrl-C stops after the current step; the same command continues.

    compiler-gym hunt debian-sample-v0 --time 10m
    """
    from compiler_gym.cli.kit.interrupts import Interrupts

    seconds = seconds_in("--time", time)
    with Interrupts() as interrupts:
        hunter = part("hunters", compiler)(
            where,
            output_dir,
            goal=goal.value,
            says=_print_progress,
            is_interrupted=lambda: interrupts.requested,
        )
        document = (hunter.compare_versions if versions else hunter.run)(seconds=seconds)
    if json:
        print_json(document)
    elif versions:
        _show_grown(document, output_dir)
    else:
        _show_findings(document, output_dir)
    if interrupts.requested:
        raise typer.Exit(INTERRUPTED)


def _print_progress(line: str) -> None:
    errors().print(line, style="dim", markup=False, highlight=False)


def _show_findings(document: Mapping[str, Any], folder: Path) -> None:
    console, figures = output(), document["figures"]
    console.print(heading(f"{document['level']} in {document['where']}"), soft_wrap=True)
    console.print(
        f"{figures['examined']:,} different functions of {figures['programs_examined']:,} of "
        f"{figures['programs']:,} programs examined, {figures['with_gap']:,} with a gap"
    )
    rows = table(
        "", "Decision", "Functions", "Packages", "Saved",
        right=("", "Functions", "Packages", "Saved"), typed=("Decision",),
    )  # fmt: skip
    for number, finding in enumerate(document["findings"][:_SHOWN], start=1):
        rows.add_row(
            str(number), finding["decision"], f"{finding['functions']:,}",
            f"{finding['packages']:,}", f"{finding['saved']:,g}",
        )  # fmt: skip
    if document["findings"]:
        show(rows, console)
    more = len(document["findings"]) - _SHOWN
    count = f"{len(document['findings'])} findings"
    console.print(f"{count}{f', {more} not shown' if more > 0 else ''}")
    for step, reasons in figures["dropped"].items():
        console.print(f"dropped at {step}: {sum(reasons.values())}")
    console.print(f"wrote drafts and report.html to {folder}", soft_wrap=True)


def _show_grown(document: Mapping[str, Any], folder: Path) -> None:
    console = output()
    console.print(heading(f"functions that grew in {document['where']}"), soft_wrap=True)
    versions = [str(version) for version in document["versions"]]
    rows = table("Function", "Package", *versions, right=(*versions,), typed=("Function",))
    for row in document["grown"][:_SHOWN]:
        sizes = (row["sizes"].get(version, "-") for version in versions)
        rows.add_row(row["function"], row["package"], *map(str, sizes))
    if document["grown"]:
        show(rows, console)
    console.print(
        f"{len(document['grown']):,} of {document['compared']:,} functions; "
        f"{len(document['failures']):,} failed compilations"
    )
    console.print(f"wrote all results to {folder / 'grown.json'}", soft_wrap=True)
