# SPDX-License-Identifier: MIT
"""``compiler-gym tune``."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compiler_gym.cli._interrupts import Interrupts
from compiler_gym.cli._output import errors, output
from compiler_gym.errors import InvalidParameterError, UnknownNameError

if TYPE_CHECKING:
    from compiler_gym.tuning import Tuner

__all__ = ["tune"]

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
) -> None:
    """Make the programs of a project smaller or faster, and hand over how: `tune -- make`.

    What follows `--` builds the project that lies in this folder; it runs in a copy.
    """
    from compiler_gym.builds import build_asked
    from compiler_gym.search import available_jobs
    from compiler_gym.tuning import Job, Request

    if goal not in ("size", "speed"):
        raise InvalidParameterError(f"goal is {goal!r}: expected size or speed")
    if not context.args:
        raise InvalidParameterError(
            "nothing to build: give the project's build after --, as in `compiler-gym tune -- make`"
        )
    seconds = _seconds(time) if time is not None else None
    if seconds is None and budget_compilations is None:
        seconds = _seconds("10m")
    request = Request(
        build_asked(context.args, Path.cwd()), Path.cwd(), output_folder.absolute(), goal, seconds,
        budget_compilations, seed, jobs or available_jobs(), tuple(binary or ()), run, check,
        _fraction(max_slowdown), resume, train,
    )  # fmt: skip
    with Interrupts() as interrupts:
        job = Job(request, _tuner(compiler), is_interrupted=lambda: interrupts.requested)
        results = job.run()
    for result in results:
        output().print(result.binary.name, result.sizes)
        if result.speed and result.speed["low"] < result.speed["high"]:
            output().print(_speed_line(result.speed))
        for note in result.found.notes:
            errors().print(note)
    errors().print(shlex.join(context.args))


def _speed_line(speed: Mapping[str, float]) -> str:
    text = (
        f"{speed['speedup']:.3f} times as fast as the fair rival, from {speed['low']:.3f} to "
        f"{speed['high']:.3f} with 95 % confidence"
    )
    if "instructions" in speed:
        text += f"; the rival executes {speed['instructions']:.3f} times as many instructions"
    return text


def _tuner(name: str | None) -> "Tuner":
    from compiler_gym.lazy import named
    from compiler_gym.registration import compilers

    tuners = {compiler.name: compiler.tuner for compiler in compilers().values() if compiler.tuner}
    name = next(iter(tuners)) if name is None else name
    if name not in tuners:
        raise UnknownNameError(f"no compiler {name!r} tunes: expected one of {', '.join(tuners)}")
    return named(tuners[name])()


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
