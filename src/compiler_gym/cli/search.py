# SPDX-License-Identifier: MIT
"""``compiler-gym search``."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compiler_gym.cli._costs import Costs, change, costs_of_episode, number
from compiler_gym.cli._failures import INTERRUPTED
from compiler_gym.cli._limits import MemoryGib, limits_of
from compiler_gym.cli._output import (
    Json,
    errors,
    heading,
    output,
    print_json,
    show,
    styled,
    table,
)
from compiler_gym.cli._programs import DEFAULT_ENVIRONMENT, SUFFIXES, EnvName, find_program
from compiler_gym.cli._state_files import program_name

if TYPE_CHECKING:
    from rich.table import Table

    from compiler_gym.core import CompilerEnv
    from compiler_gym.datasets import Benchmark
    from compiler_gym.search import Improvement, Progress, ProgressLog, SearchResult

__all__ = ["search"]

_SECONDS = 30.0
_SHOWN_REASONS = 5


def search(
    programs: Annotated[
        list[str], typer.Argument(help=f"URIs, paths ({SUFFIXES}) or -; each is searched.")
    ],
    env: EnvName = DEFAULT_ENVIRONMENT,
    algorithm: Annotated[
        str, typer.Option(help="random, greedy, e-greedy, local or portfolio.")
    ] = "portfolio",
    time: Annotated[
        float | None,
        typer.Option(help=f"Seconds for all programs together [default: {_SECONDS:g}]."),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(help="New actions to try on each program; repeatable, unlike --time."),
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Threads [default: one per processor].")] = None,
    seed: Annotated[int, typer.Option(help="The same seed and --steps give the same.")] = 0,
    reward: Annotated[
        str | None, typer.Option(help="The reward to maximise; see `compiler-gym describe`.")
    ] = None,
    action_space: Annotated[
        str | None, typer.Option(help="The action space; see `compiler-gym describe`.")
    ] = None,
    start: Annotated[
        list[str] | None,
        typer.Option(help="Actions to begin with, separated by blanks; may be repeated."),
    ] = None,
    output_file: Annotated[
        Path | None,
        typer.Option(
            "--output", help="Write results to FILE, and progress to FILE.progress.jsonl."
        ),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(help="A run folder: a search that was killed goes on from there."),
    ] = None,
    step_seconds: Annotated[
        float, typer.Option(help="Seconds that one action may take; longer ones failed.")
    ] = 10.0,
    level_seconds: Annotated[
        float, typer.Option(help="Seconds that a standard level (-Oz, ...) may take.")
    ] = 300.0,
    memory_gib: MemoryGib = None,
    kept_processes: Annotated[
        int | None,
        typer.Option(help="Processes kept at states to go on from [default: 128]; 0: replay all."),
    ] = None,
    kept_gib: Annotated[
        float | None, typer.Option(help="GiB of memory that they may hold [default: 1].")
    ] = None,
    json: Json = False,
) -> None:
    """Look for the sequence of actions that earns most on each program.

    The standard levels (-Oz, ...) are tried first where they are actions, so the
    result is never worse than those. Where actions are settings, as the flags of GCC,
    local and portfolio flip a few at a time from the best level. Ctrl-C ends the search
    with what was found.
    """
    from compiler_gym.runs import RunFolder
    from compiler_gym.search import (
        KEPT_BYTES,
        KEPT_PROCESSES,
        Budget,
        KeepingWatcher,
        default_starts,
        keep_results,
        kept_starts,
        left_of,
        run_search,
        write_results,
    )
    from compiler_gym.spaces import find_actions

    budget = Budget(seconds=_SECONDS if time is None and steps is None else time, steps=steps)
    for seconds in (step_seconds, level_seconds):
        limits_of(seconds)  # or it is refused
    make_env = _factory(env, reward, action_space, limits_of(memory_gib=memory_gib))
    with make_env() as made:
        benchmarks = [find_program(made, program) for program in programs]
        starts = [find_actions(made.action_space, words.split()) for words in start or []]
        starts += default_starts(made.action_space)
    folder = None
    if run is not None:
        config = {
            "env": env, "programs": programs, "algorithm": algorithm, "reward": reward,
            "action_space": action_space, "seconds": budget.seconds, "steps": steps,
        }  # fmt: skip
        folder = RunFolder.open(run, "search", config, seeds={"search": seed})
        starts, budget = kept_starts(folder) + starts, left_of(budget, folder)
    log = _log(output_file)
    watcher = _Watcher(log, is_quiet=json)
    try:
        results = run_search(
            make_env,
            benchmarks,
            algorithm=algorithm,
            budget=budget,
            jobs=jobs,
            seed=seed,
            starts=starts or None,
            step_seconds=step_seconds,
            level_seconds=level_seconds,
            kept_processes=KEPT_PROCESSES if kept_processes is None else kept_processes,
            kept_bytes=KEPT_BYTES if kept_gib is None else kept_gib * 2**30,
            watcher=watcher if folder is None else KeepingWatcher(folder, watcher),
        )
    finally:
        watcher.close()
    if folder is not None:
        with folder:
            keep_results(folder, results)
    if output_file is not None:
        write_results(output_file, results, env=env, algorithm=algorithm, seed=seed)
    costs = _costs_of(make_env, benchmarks, results)
    if json:
        document = {
            "env": env,
            "results": [result.to_json() for result in results],
            "costs": [None if cost is None else cost.to_json() for cost in costs],
        }
        print_json(document)
    else:
        _show(results, costs)
    if any(result.is_interrupted for result in results):
        raise typer.Exit(INTERRUPTED)


def _factory(
    env: str, reward: str | None, action_space: str | None, limits: dict[str, Any]
) -> "Callable[[], CompilerEnv]":
    """Return what makes the environment, with defaults where nothing was said."""
    from compiler_gym.registration import compiler_of, make

    compiler = compiler_of(env)
    usual: Mapping[str, str] = {} if compiler is None else compiler.search_defaults
    options: dict[str, Any] = dict(limits)
    if chosen := action_space or usual.get("action_space"):
        options["action_space"] = chosen
    with make(env) as made:
        if reward is not None or made.reward_space is None:
            fallback = usual.get("reward_space", next(iter(made.reward), None))
            options["reward_space"] = reward or fallback
    return lambda: make(env, **options)


def _log(path: Path | None) -> "ProgressLog | None":
    from compiler_gym.search import ProgressLog

    return None if path is None else ProgressLog(path.with_name(f"{path.name}.progress.jsonl"))


class _Watcher:
    """Shows one line of progress on standard error, where somebody looks at it."""

    def __init__(self, log: "ProgressLog | None", *, is_quiet: bool) -> None:
        self._log = log
        self._console = errors()
        self._status = None
        if self._console.is_terminal and not is_quiet:
            self._status = self._console.status("starting")
            self._status.start()

    def improved(self, improvement: "Improvement") -> None:
        if self._log is not None:
            self._log.add(improvement)

    def tick(self, seconds: float, programs: "Sequence[Progress]") -> None:
        if self._status is None:
            return
        steps = sum(program.steps for program in programs)
        best = ", ".join(f"{program.reward:.4g}" for program in programs[:8])
        self._status.update(
            f"{seconds:.0f} s   {sum(p.sequences for p in programs):,} sequences   "
            f"{steps / max(seconds, 0.1):,.0f} steps/s   best {best}"
        )

    def close(self) -> None:
        if self._status is not None:
            self._status.stop()
        if self._log is not None:
            self._log.close()


def _costs_of(
    make_env: "Callable[[], CompilerEnv]",
    benchmarks: "Sequence[Benchmark]",
    results: "Sequence[SearchResult]",
) -> "list[Costs | None]":
    """Return what each result made of its program, in bytes, instructions or seconds."""
    with make_env() as env:
        return [
            costs_of_episode(env, benchmark, result.actions, result.reward_space)
            for benchmark, result in zip(benchmarks, results, strict=True)
        ]


def _show(results: "Sequence[SearchResult]", costs: "Sequence[Costs | None]") -> None:
    console = output()
    for rows in (_costs_table(results, costs), _work_table(results)):
        if rows is not None:
            show(rows, console)
    for result in results:
        console.print(heading(program_name(result.benchmark)), soft_wrap=True)
        text = result.commandline or " ".join(result.action_names)
        console.print(f"  {text}", soft_wrap=True)
    _show_failures(results)
    if results[0].is_interrupted:
        console.print("interrupted: this is what was found so far", style="yellow")


def _costs_table(
    results: "Sequence[SearchResult]", costs: "Sequence[Costs | None]"
) -> "Table | None":
    measured = [cost for cost in costs if cost is not None]
    if not measured:
        return None
    options = list(measured[0].levels)
    versus = [f"vs {options[0]}"]
    numbers = ("Before", *options, "Found", *versus)
    unit = f" ({measured[0].unit})" if measured[0].unit else ""
    rows = table(
        "Program", *numbers, right=numbers, typed=("Program",), title=f"{measured[0].name}{unit}"
    )
    for result, cost in zip(results, costs, strict=True):
        if cost is None:
            continue
        rows.add_row(
            program_name(result.benchmark),
            number(cost.before),
            *(number(cost.levels[option]) for option in options),
            styled(number(cost.found), "bold"),
            change(cost.levels[options[0]], cost.found),
        )
    return rows


def _work_table(results: "Sequence[SearchResult]") -> "Table":
    numbers = ("Reward", "Actions", "Tried", "Known", "Failures")
    rows = table(
        "Program", *numbers, right=numbers, typed=("Program",),
        title=f"Reward {results[0].reward_space}; sequences tried, and of these\n"
        "those that led to a program known already",
    )  # fmt: skip
    for result in results:
        rows.add_row(
            program_name(result.benchmark),
            f"{result.reward:.4f}",
            str(len(result.actions)),
            f"{result.sequences:,}",
            f"{result.recognised:,}",
            str(result.failures),
        )
    return rows


def _show_failures(results: "Sequence[SearchResult]") -> None:
    """Say of each program why sequences failed, what happened most first."""
    for result in results:
        for reason in result.failure_reasons[:_SHOWN_REASONS]:
            at = f" at {reason.action}" if reason.action else ""
            output().print(
                f"{result.benchmark}: {reason.count} failed{at}: {reason.type}: {reason.details}",
                soft_wrap=True,
            )
        rest = len(result.failure_reasons) - _SHOWN_REASONS
        if rest > 0:
            output().print(f"{result.benchmark}: and {rest} other reasons; --json has them all")
