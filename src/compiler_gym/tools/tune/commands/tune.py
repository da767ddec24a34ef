# SPDX-License-Identifier: MIT
"""``compiler-gym tune`` and ``compiler-gym tune diff``."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compiler_gym.cli.kit.failures import INTERRUPTED
from compiler_gym.cli.kit.interrupts import Interrupts
from compiler_gym.cli.kit.options import spread
from compiler_gym.cli.kit.output import (
    Json,
    errors,
    heading,
    output,
    print_json,
    show,
    style_text,
    table,
)
from compiler_gym.errors import InvalidParameterError, ProjectError
from compiler_gym.tools.tune import Request

if TYPE_CHECKING:
    from rich.table import Table

    from compiler_gym.tools.tune import BinaryDifference, PlanDifference, Tuner, TuningSummary

NOT_BETTER = 1
"""The exit status of --require-better if nothing better was found."""
_DIFF = "diff"

_DEFAULTS = Request()
WORSE = 1
"""The exit status if the second result is larger."""


@spread
def tune(
    context: typer.Context,
    request: Request = _DEFAULTS,
    compiler: Annotated[
        str | None,
        typer.Option(help="Compiler to tune with [default: the first one that supports it]."),
    ] = None,
    require_better: Annotated[
        bool,
        typer.Option("--require-better", help="Exit with status 1 if nothing better was found."),
    ] = False,
    json: Json = False,
) -> None:
    """Make the programs that a project builds smaller or faster: `tune -- make`.

    The command after `--` builds the project in this folder; it runs in a copy. Ctrl-C ends
    the search and writes the best result so far. `tune diff A B` compares two results. Exit
    status: 0 if a result was written, otherwise 2; 130 after Ctrl-C.

    compiler-gym tune --check 'make check' -- make

    compiler-gym tune --goal speed --run './prog input' -- make
    """
    from compiler_gym.search import available_jobs
    from compiler_gym.tools.tune import tuner_named
    from compiler_gym.tools.tune.builds import build_asked

    if context.args[:1] == [_DIFF]:
        from compiler_gym.tools.tune.commands.tune import run_diff

        run_diff(context.args[1:])
        return
    if not context.args:
        raise InvalidParameterError(
            "nothing to build: write the build command after --, as in `compiler-gym tune -- make`"
        )
    request = replace(
        request,
        build=build_asked(context.args, Path.cwd()),
        project=Path.cwd(),
        output=request.output.resolve(),
        jobs=request.jobs or available_jobs(),
    )
    summary = _tune(request, tuner_named(compiler), is_quiet=json)
    if json:
        print_json(summary.to_json())
    else:
        from compiler_gym.tools.tune.commands.display import show_summary

        show_summary(summary)
    if summary.is_interrupted:
        raise typer.Exit(INTERRUPTED)
    if require_better and not summary.is_better:
        raise typer.Exit(NOT_BETTER)


def _tune(request: Request, tuner: "Tuner", *, is_quiet: bool) -> "TuningSummary":
    """Return the results, or raise `KeyboardInterrupt` if the user stopped before any."""
    from compiler_gym.tools.tune import TuningJob, write_report
    from compiler_gym.tools.tune.commands.display import TuningDisplay

    with Interrupts() as interrupts:
        display = TuningDisplay(
            errors(),
            interrupts,
            goal=request.goal,
            measure=request.measure,
            is_quiet=is_quiet,
        )
        try:
            with display:
                job = TuningJob(
                    request, tuner, display, is_interrupted=lambda: interrupts.requested
                )
                results = job.run()
                return write_report(
                    request,
                    results,
                    compiler=tuner.version,
                    others=job.others,
                    is_interrupted=interrupts.requested,
                    rebuild=job.rebuild,
                )
        except (KeyboardInterrupt, ProjectError) as error:
            # A foreground process receives the Ctrl-C too, and may fail because of it.
            if not interrupts.requested:
                raise
            errors().print(_resume_hint(request), soft_wrap=True)
            raise KeyboardInterrupt from error


def _resume_hint(request: Request) -> str:
    return f"no result yet: --resume continues from {request.output}"


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
        _show_difference(difference)
    if difference.is_worse:
        raise typer.Exit(WORSE)


def _show_difference(difference: "PlanDifference") -> None:
    console = output()
    for name, (old, new) in difference.settings.items():
        console.print(f"{name}: {old} -> {new}", soft_wrap=True)
    if difference.binaries:
        show(_size_rows(difference), console)
    for binary in difference.binaries:
        lines = list(_difference_lines(binary))
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


def _size_rows(difference: "PlanDifference") -> "Table":
    from compiler_gym.tools.tune import Measure, share

    rows = table(
        "Binary",
        "Bytes",
        "A",
        "B",
        "B is",
        right=("A", "B"),
        typed=("Binary",),
        title="Tuned, in bytes",
    )
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


def _difference_lines(binary: "BinaryDifference") -> Iterator[str]:
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
