# SPDX-License-Identifier: MIT
"""``compiler-gym evaluate-heuristic``: evaluate an inlining heuristic."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compiler_gym.cli.kit.options import CompilerName, SandboxName
from compiler_gym.cli.kit.output import Json, errors, heading, output, print_json, show, table
from compiler_gym.cli.kit.programs import files_below
from compiler_gym.errors import InvalidParameterError
from compiler_gym.tools.learn.commands import print_outcome, show_metrics

if TYPE_CHECKING:
    from compiler_gym.tools.learn.leaderboard import Evaluation, LeaderboardTask, Outcome

__all__ = ["evaluate_heuristic"]


def evaluate_heuristic(
    heuristic: Annotated[
        Path, typer.Argument(help="C source or shared object that defines should_inline().")
    ],
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            help="Dataset, program or folder; can be repeated [default: the task's programs]."
        ),
    ] = None,
    define: Annotated[
        list[str] | None,
        typer.Option("--define", help="Macro to define, as NAME=VALUE; can be repeated."),
    ] = None,
    most: Annotated[
        int | None, typer.Option(help="Maximum number of programs, sampled evenly.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the entry.")] = None,
    output_dir: Annotated[
        Path | None,
        typer.Option("--output", help="Folder for a submission [default: none is written]."),
    ] = None,
    compiler: CompilerName = None,
    sandbox: SandboxName = None,
    json: Json = False,
) -> None:
    """Evaluate an inlining heuristic in C, or in a shared object, on many programs.

    It runs in a sandbox, and each program is compiled once with its decisions. Exits with
    status 1 if it failed on any program. With the task's own programs, the result is a
    leaderboard entry.
    """
    from compiler_gym.lazy import part
    from compiler_gym.sandbox import require, use_sandbox
    from compiler_gym.tools.learn.leaderboard import evaluate, find_task, write_submission

    heuristics = part("heuristics", compiler)
    task = find_task(heuristics.TASK)
    programs = _list_programs(corpus or [], most, task)
    started = time.monotonic()
    with use_sandbox(require(sandbox, what=f"the heuristic {heuristic}")):
        policy = heuristics.heuristic_policy(heuristic, _macros(define or []))
        evaluation = evaluate(
            policy, task, programs=programs, watch=_print_nothing if json else print_outcome
        )
    if output_dir is not None:
        facts = {"name": name or heuristic.stem, "policy": str(heuristic)}
        write_submission(output_dir, evaluation, facts)
    seconds = time.monotonic() - started
    failed = [outcome for outcome in evaluation.outcomes if outcome.error]
    if json:
        print_json(
            {
                "asked": policy.asked,
                "agreed": policy.agreed,
                "seconds": round(seconds, 3),
                "outcomes": [outcome.to_json() for outcome in evaluation.outcomes],
            }
        )
    else:
        _show(evaluation, name or heuristic.stem, policy, seconds)
    if failed:
        raise typer.Exit(1)


def _print_nothing(outcome: "Outcome") -> None:
    """Ignore `outcome`, because the result is printed as JSON."""


def _list_programs(corpus: list[str], most: int | None, task: "LeaderboardTask") -> list[str]:
    """Return at most `most` of the programs in `corpus`; none means those of the task."""
    from compiler_gym.registration import make

    if most is not None and most < 1:
        raise InvalidParameterError(f"--most must be at least 1 (got {most})")
    uris = [uri for name in corpus for uri in (files_below(Path(name)) or [name])]
    if most is None:
        return uris
    with make(task.environment) as env:
        every = list((task.only(tuple(uris)) if uris else task).uris(env))
    return [every[at * len(every) // most] for at in range(most)] if len(every) > most else every


def _macros(definitions: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in definitions]
    if invalid := [name for name, equals, _ in pairs if not equals or not name.isidentifier()]:
        raise InvalidParameterError(f"--define needs NAME=VALUE (got {invalid[0]!r})")
    return {name: value for name, _, value in pairs}


def _show(evaluation: "Evaluation", name: str, policy: Any, seconds: float) -> None:
    console = output()
    summary = evaluation.summary
    console.print(heading(name, f" on {evaluation.task.name}: {summary.programs} programs"))
    show_metrics(evaluation)
    costs = [cost for cost in evaluation.costs if cost.baseline > 0]
    ratios = sorted((cost.found / cost.baseline, cost.program) for cost in costs)
    rows = table("Program", "Cost / baseline", right=("Cost / baseline",))
    for ratio, program in (*ratios[:1], *ratios[-1:]):
        rows.add_row(program, f"{ratio:.4f}")
    show(rows, console)
    larger = sum(ratio > 1 for ratio, _ in ratios)
    smaller = sum(ratio < 1 for ratio, _ in ratios)
    console.print(
        f"smaller: {smaller}, equal: {len(ratios) - smaller - larger}, larger: {larger}; "
        f"{policy.agreed:,} of {policy.asked:,} decisions as the compiler's own; {seconds:.1f} s"
    )
    for outcome in evaluation.outcomes:
        if outcome.error:
            errors().print(f"{outcome.state.benchmark}: {outcome.error}", soft_wrap=True)
