# SPDX-License-Identifier: MIT
"""``compiler-gym demo``: the main job, end to end, for somebody who sees it first."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compiler_gym.cli._failures import INTERRUPTED
from compiler_gym.cli._output import Json, errors, output, print_json

if TYPE_CHECKING:
    from compiler_gym.cli._demo.job import DemoJob

__all__ = ["demo"]

_PROGRAMS = tuple(
    f"cbench-v1/{name}"
    for name in (
        "adpcm", "bitcount", "blowfish", "crc32", "dijkstra", "qsort", "sha", "stringsearch",
    )
)  # fmt: skip


def demo(
    programs: Annotated[
        list[str] | None,
        typer.Argument(help="URIs, paths (.c .cc .ll .bc) or - [default: eight of cbench-v1]."),
    ] = None,
    time: Annotated[float, typer.Option(help="Seconds of search, all programs together.")] = 60.0,
    jobs: Annotated[int | None, typer.Option(help="Threads [default: one per processor].")] = None,
    seed: Annotated[int, typer.Option(help="Where the search starts from.")] = 0,
    directory: Annotated[
        Path, typer.Option("--output", help="The folder for results, plot and bitcode.")
    ] = Path("demo-results"),
    json: Json = False,
) -> None:
    """Search for pass sequences that beat -Oz on real programs, and check them with opt.

    Shows the search live, then a table, a plot and the `opt` command that reproduces
    each number. Ctrl-C shows what was found so far.
    """
    from compiler_gym.cli._demo import report
    from compiler_gym.cli._demo.job import DemoJob
    from compiler_gym.cli._interrupts import Interrupts
    from compiler_gym.search import Budget, available_jobs

    budget = Budget(seconds=time)
    jobs = available_jobs() if jobs is None else jobs
    with Interrupts() as interrupts:
        job = DemoJob(directory, errors() if json else output(), interrupts)
        job.run(programs or _PROGRAMS, budget=budget, jobs=jobs, seed=seed)
        files = report.write(directory, job.rows, job.facts)
        files += _plot(job, directory / "results.png", time)
    if json:
        print_json({**job.facts, "programs": [row.to_json() for row in job.rows]})
    else:
        _print(job, files)
    if job.facts["is_interrupted"]:
        raise typer.Exit(INTERRUPTED)


def _plot(job: "DemoJob", path: Path, seconds: float) -> list[Path]:
    from compiler_gym.cli._demo.plot import draw

    if not job.rows:
        return []
    try:
        draw(job.rows, path, seconds=seconds)
    except ImportError:
        errors().print("no plot: it needs matplotlib: pip install 'compiler_gym[plot]'")
        return []
    return [path]


def _print(job: "DemoJob", files: list[Path]) -> None:
    from compiler_gym.cli._demo import report

    console = output()
    report.print_commands(console, job.rows)
    report.print_table(console, job.rows, opt=job.opt)
    if job.facts["is_interrupted"]:
        console.print("[yellow]Interrupted: this is what was found so far.[/]")
    elif job.opt is None:
        console.print(
            "[yellow]Not checked with LLVM's own opt: it is not installed (apt install llvm-22).[/]"
        )
    console.print("Written: " + "  ".join(map(str, files)), soft_wrap=True)
