# SPDX-License-Identifier: MIT
"""``compiler-gym leaderboard``: tasks, evaluations, submissions and tables."""

import platform
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compiler_gym.cli.kit.groups import CommandGroup
from compiler_gym.cli.kit.options import SandboxName
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
from compiler_gym.cli.kit.programs import program_name

if TYPE_CHECKING:
    from compiler_gym.runs import RunFolder
    from compiler_gym.tools.learn.leaderboard import Evaluation, LeaderboardTask, Outcome
    from compiler_gym.validation import ValidationError

WRONG = 1
"""The exit status when a submission cannot be trusted."""
ROOT = Path("leaderboard")

leaderboard = typer.Typer(
    name="leaderboard",
    cls=CommandGroup,
    help="Evaluate policies on fixed tasks; verify and rank submissions.",
    no_args_is_help=True,
)

Root = Annotated[Path, typer.Option("--root", help="Folder with submissions.")]


@leaderboard.command()
def tasks(json: Json = False) -> None:
    """List the tasks."""
    from compiler_gym.tools.learn.leaderboard import TASKS

    if json:
        print_json([task.to_json() for task in TASKS.values()])
        return
    rows = table("Task", "Limit per program", "Description", typed=("Task",))
    for task in TASKS.values():
        rows.add_row(task.name, str(task.limit), task.description)
    show(rows)


@leaderboard.command()
def run(
    task: Annotated[
        str,
        typer.Argument(help="Task; `compiler-gym leaderboard tasks` lists them."),
    ],
    policy: Annotated[
        str, typer.Argument(help="level:-Oz, search:local, or a file: agents/tabular_q.py.")
    ],
    name: Annotated[str | None, typer.Option(help="Name of the entry.")] = None,
    authors: Annotated[str, typer.Option(help="Authors of the entry.")] = "",
    description: Annotated[str, typer.Option(help="Description in one sentence.")] = "",
    program: Annotated[
        list[str] | None,
        typer.Option(help="Evaluate only this program, as a trial; can be repeated."),
    ] = None,
    output_dir: Annotated[
        Path | None,
        typer.Option("--output", help="Folder for the submission [default: do not write one]."),
    ] = None,
    run_folder: Annotated[
        Path | None, typer.Option("--run", help="Run folder; resumes an interrupted run.")
    ] = None,
    json: Json = False,
) -> None:
    """Evaluate a policy on a task and write a submission."""
    from compiler_gym.tools.learn.leaderboard import (
        evaluate,
        find_policy,
        find_task,
        write_submission,
    )

    selected, programs = find_task(task), program or ()
    with _open_run(run_folder, selected, {"policy": policy, "only": program}) as folder:
        evaluation = evaluate(
            find_policy(policy), selected, programs=programs, run=folder, watch=print_outcome
        )
    if output_dir is not None:
        machine = f"{platform.machine()}, {platform.system()} {platform.release()}"
        facts = {"name": name or policy, "policy": policy, "authors": authors}
        facts |= {"description": description, "machine": machine}
        write_submission(output_dir, evaluation, facts)
    if json:
        print_json([outcome.to_json() for outcome in evaluation.outcomes])
    else:
        _show_evaluation(evaluation, name or policy)


def _open_run(
    path: Path | None, task: "LeaderboardTask", settings: dict[str, Any]
) -> "AbstractContextManager[RunFolder | None]":
    from compiler_gym.runs import RunFolder

    if path is None:
        return nullcontext()
    config = {**task.to_json(), **settings}
    return RunFolder.open(path, "evaluation", config, seeds={"task": task.seed})


@leaderboard.command()
def verify(
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Submissions [default: all].")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(help="Number of random episodes to replay from each.")
    ] = None,
    rungs: Annotated[
        str, typer.Option(help="Checks for each episode, separated by commas.")
    ] = "verify,run",
    rerun: Annotated[bool, typer.Option("--rerun", hidden=True, help="Removed.")] = False,
    sandbox: SandboxName = None,
    root: Root = ROOT,
) -> None:
    """Replay and validate submissions; exit with status 1 if one is wrong.

    A replay cannot check times and numbers of compilations: those stay claims.
    """
    from compiler_gym.errors import InvalidParameterError
    from compiler_gym.tools.learn.leaderboard import find_submissions, read_submission
    from compiler_gym.tools.learn.leaderboard import verify as verify_submission

    if rerun:
        raise InvalidParameterError(
            "verify only replays, and --rerun was removed; to check times, run the policy again: "
            "compiler-gym leaderboard run TASK POLICY"
        )
    names = tuple(rung.strip() for rung in rungs.split(",") if rung.strip())
    submissions = map(read_submission, folders) if folders else find_submissions(root)
    columns = ("Submission", "Task", "Programs", "Errors", "")
    rows = table(*columns, right=columns[2:4], typed=columns[:2])
    details: list[tuple[str, ValidationError]] = []
    for submission in submissions:
        problems = verify_submission(submission, sample=sample, rungs=names, sandbox=sandbox)
        details += [(submission.name, error) for error in problems]
        rows.add_row(
            submission.name,
            submission.task.name,
            str(len(submission.outcomes)),
            str(len(problems)),
            style_text("WRONG", "bold red") if problems else style_text("ok", "green"),
        )
    show(rows)
    for name, error in details:
        output().print(f"{name}: {error}", soft_wrap=True)
    if details:
        raise typer.Exit(WRONG)


@leaderboard.command(name="table")
def table_(root: Root = ROOT) -> None:
    """Print the leaderboards as Markdown."""
    from compiler_gym.errors import InvalidParameterError
    from compiler_gym.tools.learn.leaderboard import find_submissions, write_tables

    submissions = list(find_submissions(root))
    if not submissions:
        raise InvalidParameterError(
            f"no submissions in the folder {root}; choose another with --root, or create one with "
            f"`compiler-gym leaderboard run TASK POLICY --output {root}/TASK/NAME`"
        )
    print(write_tables(submissions))


def print_outcome(outcome: "Outcome") -> None:
    """Print the result of a policy on a program to standard error."""
    name = program_name(outcome.state.benchmark)
    lateness = ", LATE" if outcome.is_late else ""
    published = "" if outcome.published is None else f", published {outcome.published:g}"
    errors().print(
        f"{name}: {outcome.found:g} (baseline {outcome.baseline:g}{published}), "
        f"{outcome.walltime:.1f} s, {outcome.compilations} compilations{lateness} {outcome.error}",
        soft_wrap=True,
    )


def _show_evaluation(evaluation: "Evaluation", name: str) -> None:
    summary = evaluation.summary
    console = output()
    console.print(heading(name, f" on {evaluation.task.name}: {summary.programs} programs"))
    show_metrics(evaluation)
    console.print(
        f"improved: {summary.improved:.0%} of programs; {evaluation.walltime:.2f} s and "
        f"{evaluation.compilations:,.0f} compilations per program"
    )


def show_metrics(evaluation: "Evaluation") -> None:
    """Print the metrics of a policy on a task."""
    summary, console = evaluation.summary, output()
    rows = table("Metric", "Geometric mean and 95 % interval")
    for metric, interval in (
        ("(C0-C)/(C0-Cb)", summary.share),
        ("(C0-C)/(C0-Cp)", summary.published_share),
        ("Cb/C", summary.ratio),
        ("(Cb-C)/Cb", summary.saving),
    ):
        rows.add_row(metric, "not defined" if interval is None else str(interval))
    show(rows, console)
    published = evaluation.task.published_baseline
    console.print(f"Cb: {evaluation.task.baseline}" + (f"; Cp: {published}" if published else ""))
