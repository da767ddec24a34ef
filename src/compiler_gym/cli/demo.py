# SPDX-License-Identifier: MIT
"""``compiler-gym demo``: the main job, end to end, for new users."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer

from compiler_gym.cli import _completing
from compiler_gym.cli._failures import INTERRUPTED
from compiler_gym.cli._output import Json, errors, output, print_json
from compiler_gym.cli._programs import SUFFIXES, find_program
from compiler_gym.lazy import named
from compiler_gym.options import seconds_in
from compiler_gym.registration import compilers

__all__ = ["Demonstration", "demo"]

_PROGRAMS = tuple(
    f"cbench-v1/{name}"
    for name in (
        "adpcm", "bitcount", "blowfish", "crc32", "dijkstra", "qsort", "sha", "stringsearch",
    )
)  # fmt: skip


class Demonstration(Protocol):
    """The demonstration that a compiler's registration names.

    It is made from a folder, a console, the object that notes Ctrl-C, and a function that finds a
    program.
    """

    @property
    def is_interrupted(self) -> bool:
        """Whether it ended early."""
        ...

    def run(self, programs: Iterable[str], *, seconds: float, jobs: int, seed: int) -> None:
        """Run the demonstration until it is done or Ctrl-C, and write its files."""
        ...

    def show(self) -> None:
        """Print what was found."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return the results as plain values."""
        ...


def demo(
    programs: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"URIs, paths ({SUFFIXES}) or - [default: eight of cbench-v1].",
            autocompletion=_completing.programs,
        ),
    ] = None,
    time: Annotated[
        str, typer.Option(help="How long to search, all programs together: 90, 10m, 1h.")
    ] = "60s",
    jobs: Annotated[int | None, typer.Option(help="Threads [default: one per processor].")] = None,
    seed: Annotated[int, typer.Option(help="Where the search starts from.")] = 0,
    directory: Annotated[
        Path, typer.Option("--output", help="The folder for results, plot and programs.")
    ] = Path("demo-results"),
    json: Json = False,
) -> None:
    """Search for pass sequences that beat -Oz on real programs, and check them with opt.

    Shows the search live, then a table, a plot and the `opt` command that reproduces
    each number. Ctrl-C shows what was found so far.
    """
    from compiler_gym.cli._interrupts import Interrupts
    from compiler_gym.search import available_jobs

    jobs = available_jobs() if jobs is None else jobs
    with Interrupts() as interrupts:
        shown = _demonstration()(
            directory, errors() if json else output(), interrupts, find_program
        )
        shown.run(programs or _PROGRAMS, seconds=seconds_in(time), jobs=jobs, seed=seed)
    if json:
        print_json(shown.to_json())
    else:
        shown.show()
    if shown.is_interrupted:
        raise typer.Exit(INTERRUPTED)


def _demonstration() -> "Callable[..., Demonstration]":
    """Return the demonstration of the first compiler that has one."""
    return next(named(one.demonstration) for one in compilers().values() if one.demonstration)
