# SPDX-License-Identifier: MIT
"""``compiler-gym runs``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from compiler_gym.cli.kit.output import Json, output, print_json, show, style_text, table

if TYPE_CHECKING:
    from compiler_gym.runs import RunSummary


def runs(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Run folders, or folders that contain them [default: this folder and the cache]."
        ),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Show the differences in settings and results.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Plot the rewards over time to this file.")
    ] = None,
    json: Json = False,
) -> None:
    """List runs of searches, trainings and evaluations, and compare them.

    compiler-gym runs runs/first runs/second --compare
    """
    from compiler_gym.errors import InvalidParameterError
    from compiler_gym.runs import differences, distinct_names, find_runs, summarise

    for folder in folders or []:
        if not folder.exists():
            raise InvalidParameterError(f"there is no folder {folder}: name a folder of runs")
    summaries = [summarise(path) for path in find_runs(folders or _usual_folders())]
    if plot is not None:
        _draw(summaries, plot)
    if json:
        print_json(
            [
                {
                    "path": str(run.path),
                    "kind": run.kind,
                    "started": run.started,
                    "is_done": run.is_done,
                    "episodes": run.episodes,
                    "reward": run.reward,
                    "seconds": run.seconds,
                    "settings": run.settings,
                }
                for run in summaries
            ]
        )
        return
    _show_runs(summaries)
    if compare:
        rows = table(
            "Setting", *distinct_names([run.path for run in summaries]), typed=("Setting",)
        )
        for name, values in differences(summaries).items():
            rows.add_row(name, *(str(value) for value in values))
        show(rows)


def _usual_folders() -> list[Path]:
    """Return the run folders in this folder, without searching deeper, and the cache's folder."""
    from compiler_gym.runs import runs_path

    paths = (file.parent for pattern in ("run.json", "*/run.json") for file in Path().glob(pattern))
    return [*paths, runs_path()]


def _show_runs(summaries: "list[RunSummary]") -> None:
    console = output()
    if not summaries:
        console.print("no runs found: a search or an evaluation with --run FOLDER creates one;")
        console.print("`compiler-gym runs FOLDER` lists those in another folder")
        return
    rows = table(
        "Run",
        "Kind",
        "Started",
        "Episodes",
        "Mean reward",
        "Seconds",
        "",
        right=("Started", "Episodes", "Mean reward", "Seconds"),
        typed=("Run",),
    )
    for run in summaries:
        rows.add_row(
            str(run.path),
            run.kind,
            run.started[:19].replace("T", " "),
            str(run.episodes),
            "-" if run.reward is None else f"{run.reward:.4f}",
            f"{run.seconds:.1f}",
            "done" if run.is_done else style_text("not done", "yellow"),
        )
    show(rows, console)


def _draw(summaries: "list[RunSummary]", path: Path) -> None:
    from compiler_gym.errors import CacheError, InvalidParameterError
    from compiler_gym.runs import distinct_names
    from compiler_gym.version import install_hint

    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InvalidParameterError(f"a plot needs matplotlib: `{install_hint('plot')}`") from error
    figure = cast(Any, Figure(figsize=(8, 4.5), layout="constrained"))  # partly untyped
    axes = figure.subplots()
    for run, name in zip(summaries, distinct_names([run.path for run in summaries]), strict=True):
        if run.curve:
            steps, rewards = zip(*run.curve, strict=True)
            axes.plot(steps, rewards, marker=".", label=name)
    axes.set_xlabel("step")
    axes.set_ylabel("reward")
    if any(run.curve for run in summaries):
        axes.legend()
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise CacheError(f"cannot write {path}: {error}") from error
