# SPDX-License-Identifier: MIT
"""``compiler-gym tune``."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compiler_gym.cli._failures import INTERRUPTED
from compiler_gym.cli._interrupts import Interrupts
from compiler_gym.cli._output import Json, errors, print_json
from compiler_gym.errors import InvalidParameterError, ProjectError

if TYPE_CHECKING:
    from compiler_gym.tuning import Request, Summary, Tuner

__all__ = ["NOT_BETTER", "tune"]

NOT_BETTER = 1
"""The exit status of --require-better where nothing better was found."""
_DIFF = "diff"

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h)?")
_UNITS = {"s": 1, "m": 60, "h": 3600}


def tune(
    context: typer.Context,
    goal: Annotated[str, typer.Option(help="size or speed.")] = "size",
    time: Annotated[
        str | None, typer.Option(help="How long to search: 90, 10m, 2h [default: 10m].")
    ] = None,
    budget_compilations: Annotated[
        int | None,
        typer.Option(help="Compilations to try instead of a time: repeatable with --seed."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed and compilations give the same.")] = 0,
    binary: Annotated[
        list[str] | None,
        typer.Option(help="A linked file to tune; may be repeated [default: the largest]."),
    ] = None,
    run: Annotated[
        str | None, typer.Option(help="A command that does the program's work, run in the tree.")
    ] = None,
    train: Annotated[
        str | None,
        typer.Option(help="A run to learn from where the goal is speed [default: --run]."),
    ] = None,
    check: Annotated[
        str | None, typer.Option(help="A command that tests the project, as 'make check'.")
    ] = None,
    max_slowdown: Annotated[
        str | None, typer.Option(help="What a smaller program may cost in time: 3%.")
    ] = None,
    output_folder: Annotated[
        Path, typer.Option("--output", help="The folder for everything; new or to resume.")
    ] = Path("tuned"),
    resume: Annotated[bool, typer.Option("--resume", help="Go on where it was ended.")] = False,
    compiler: Annotated[
        str | None, typer.Option(help="Which compiler to tune with [default: the first that can].")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Threads [default: one per processor].")] = None,
    require_better: Annotated[
        bool,
        typer.Option("--require-better", help="Exit with 1 if nothing better was found."),
    ] = False,
    json: Json = False,
) -> None:
    """Make the programs of a project smaller or faster, and hand over how: `tune -- make`.

    What follows `--` builds the project that lies in this folder; it runs in a copy. Ctrl-C
    ends the search and hands over what was found. `tune diff A B` compares two results.
    Exit status: 0 when handed over, 2 when that cannot be done, 130 after Ctrl-C.
    """
    from compiler_gym.builds import build_asked
    from compiler_gym.search import available_jobs
    from compiler_gym.tuning import Goal, Request, tuner_named

    if context.args[:1] == [_DIFF]:
        from compiler_gym.cli._tune_diff import run_diff

        run_diff(context.args[1:])
        return
    wanted = Goal(goal)
    if not context.args:
        raise InvalidParameterError(
            "nothing to build: give the project's build after --, as in `compiler-gym tune -- make`"
        )
    seconds = _seconds(time) if time is not None else None
    if seconds is None and budget_compilations is None:
        seconds = _seconds("10m")
    request = Request(
        build_asked(context.args, Path.cwd()),
        Path.cwd(),
        output_folder.resolve(),
        goal=wanted,
        seconds=seconds,
        compilations=budget_compilations,
        seed=seed,
        jobs=jobs or available_jobs(),
        binaries=tuple(binary or ()),
        run=run,
        check=check,
        max_slowdown=_fraction(max_slowdown),
        resume=resume,
        train=train,
    )
    summary = _tuned(request, tuner_named(compiler), is_quiet=json)
    if json:
        print_json(summary.to_json())
    else:
        from compiler_gym.cli._tuning_summary import show_summary

        show_summary(summary)
    if summary.is_interrupted:
        raise typer.Exit(INTERRUPTED)
    if require_better and not summary.is_better:
        raise typer.Exit(NOT_BETTER)


def _tuned(request: "Request", tuner: "Tuner", *, is_quiet: bool) -> "Summary":
    """Return what was found, or raise `KeyboardInterrupt` where the user stopped before."""
    from compiler_gym.cli._tuning_display import TuningDisplay
    from compiler_gym.tuning import Job, write_report

    with Interrupts() as interrupts:
        display = TuningDisplay(errors(), interrupts, goal=request.goal, is_quiet=is_quiet)
        try:
            with display:
                job = Job(request, tuner, display, is_interrupted=lambda: interrupts.requested)
                results = job.run()
                return write_report(
                    request, results, compiler=tuner.version, others=job.others,
                    is_interrupted=interrupts.requested,
                )  # fmt: skip
        except (KeyboardInterrupt, ProjectError) as error:
            # What runs in the foreground gets the Ctrl-C too, and fails of it.
            if not interrupts.requested:
                raise
            errors().print(_where_to_go_on(request), soft_wrap=True)
            raise KeyboardInterrupt from error


def _where_to_go_on(request: "Request") -> str:
    return f"nothing is handed over yet: --resume goes on with what lies in {request.output}"


def _seconds(text: str) -> float:
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise InvalidParameterError(f"time is {text!r}: expected seconds, or 90s, 10m, 2h")
    return float(match[1]) * _UNITS[match[2] or "s"]


def _fraction(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return float(text.strip().removesuffix("%")) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        raise InvalidParameterError(f"{text!r}: expected a share such as 3%") from None
