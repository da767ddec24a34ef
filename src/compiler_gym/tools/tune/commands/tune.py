# SPDX-License-Identifier: MIT
"""``compiler-gym tune``."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compiler_gym.cli.kit.failures import INTERRUPTED
from compiler_gym.cli.kit.interrupts import Interrupts
from compiler_gym.cli.kit.options import spread
from compiler_gym.cli.kit.output import Json, errors, print_json
from compiler_gym.errors import InvalidParameterError, ProjectError
from compiler_gym.tools.tune import Request

if TYPE_CHECKING:
    from compiler_gym.tools.tune import Tuner, TuningSummary

__all__ = ["NOT_BETTER", "tune"]

NOT_BETTER = 1
"""The exit status of --require-better if nothing better was found."""
_DIFF = "diff"

_DEFAULTS = Request()


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
        from compiler_gym.tools.tune.commands.diff import run_diff

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
        from compiler_gym.tools.tune.commands.summary import show_summary

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
                    request, results, compiler=tuner.version, others=job.others,
                    is_interrupted=interrupts.requested, rebuild=job.rebuild,
                )  # fmt: skip
        except (KeyboardInterrupt, ProjectError) as error:
            # A foreground process receives the Ctrl-C too, and may fail because of it.
            if not interrupts.requested:
                raise
            errors().print(_resume_hint(request), soft_wrap=True)
            raise KeyboardInterrupt from error


def _resume_hint(request: Request) -> str:
    return f"no result yet: --resume continues from {request.output}"
