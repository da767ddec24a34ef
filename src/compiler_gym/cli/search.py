# SPDX-License-Identifier: MIT
"""``compiler-gym search``."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import geometric_mean
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compiler_gym.cli.kit import completing as _completing
from compiler_gym.cli.kit.costs import Costs, change, costs_of_episode, number
from compiler_gym.cli.kit.failures import INTERRUPTED
from compiler_gym.cli.kit.options import MemoryLimit, make_arguments, spread
from compiler_gym.cli.kit.output import (
    Json,
    errors,
    heading,
    output,
    print_command,
    print_json,
    show,
    style_text,
    table,
)
from compiler_gym.cli.kit.programs import (
    DEFAULT_ENVIRONMENT,
    SUFFIXES,
    ActionSpaceName,
    EnvName,
    find_program,
    program_name,
)
from compiler_gym.options import Limits, SearchOptions

if TYPE_CHECKING:
    from rich.table import Table

    from compiler_gym.core import CompilerEnv
    from compiler_gym.datasets import Benchmark
    from compiler_gym.runs import RunFolder
    from compiler_gym.search import Improvement, ProgressLog, SearchProgress, SearchResult

_DEFAULTS = SearchOptions()
_SHOWN_REASONS = 5


@spread
def search(
    programs: Annotated[
        list[str],
        typer.Argument(
            help=f"URIs, paths ({SUFFIXES}) or -; each is searched.",
            autocompletion=_completing.programs,
        ),
    ],
    env: EnvName = DEFAULT_ENVIRONMENT,
    reward: Annotated[
        str | None,
        typer.Option(
            help="Reward to maximise; `compiler-gym describe` lists them.",
            autocompletion=_completing.rewards,
        ),
    ] = None,
    action_space: ActionSpaceName = None,
    options: SearchOptions = _DEFAULTS,
    output_file: Annotated[
        Path | None,
        typer.Option(
            "--output", help="Write results to this file, and progress to FILE.progress.jsonl."
        ),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(help="Run folder; the same command resumes an interrupted search."),
    ] = None,
    limits: MemoryLimit = None,
    json: Json = False,
) -> None:
    """Search for the sequence of actions with the highest reward on each program.

    If the action space has standard levels, the last (-Oz for LLVM) is the first or second that
    is tried, so the result is never worse. If actions are settings, such as GCC flags, local and
    portfolio change a few at a time, starting from the best level. Ctrl-C ends the search and
    keeps its results.

    compiler-gym search main.c --time 30

    compiler-gym search cbench-v1/sha --reward ObjectTextSizeOz --steps 500
    """
    from compiler_gym.search import choose_options, write_results

    options = choose_options(options)
    task: dict[str, Any] = {
        "env": env,
        "programs": programs,
        "reward": reward,
        "action_space": action_space,
    }
    make_env = _factory(env, reward, action_space, limits)
    with make_env() as environment:
        benchmarks = [find_program(environment, program) for program in programs]
        folder, options = _begin_run(run, task, options, limits, environment)
    searched = _Searched(make_env, benchmarks)
    results = searched.results(options, folder, _log(output_file), is_quiet=json)
    if output_file is not None:
        write_results(output_file, results, env=env, algorithm=options.algorithm, seed=options.seed)
    costs = searched.costs(results)
    if json:
        document = {
            "env": env,
            "results": [result.to_json() for result in results],
            "costs": [None if cost is None else cost.to_json() for cost in costs],
        }
        print_json(document)
    else:
        _show_results(results, costs, _repeating(env, action_space), output_file)
    if any(result.is_interrupted for result in results):
        raise typer.Exit(INTERRUPTED)


def _factory(
    env: str, reward: str | None, action_space: str | None, limits: Limits | None
) -> "Callable[[], CompilerEnv]":
    """Return a function that makes the environment, with the compiler's defaults for options."""
    from compiler_gym.registration import find_compiler, make

    compiler = find_compiler(env)
    defaults: Mapping[str, str] = {} if compiler is None else compiler.search_defaults
    options = make_arguments(action_space or defaults.get("action_space"), limits)
    with make(env) as environment:
        if reward is not None or environment.reward_space is None:
            fallback = defaults.get("reward_space", next(iter(environment.reward), None))
            options["reward_space"] = reward or fallback
    return lambda: make(env, **options)


def _begin_run(
    run: Path | None,
    task: dict[str, Any],
    options: SearchOptions,
    limits: Limits | None,
    env: "CompilerEnv",
) -> "tuple[RunFolder | None, SearchOptions]":
    """Return the run folder, if any, and the options of the search with its starts."""
    from compiler_gym.search import default_starts, read_kept_starts, starting_sequences, take_up

    given_starts = starting_sequences(options.starts or (), env.action_space)
    folder, known_starts = None, []
    if run is not None:
        task["memory_bytes"] = None if limits is None else limits.memory_bytes
        folder, options = take_up(run, task, options, may_change=["memory_bytes"])
        known_starts = read_kept_starts(folder)
        if folder.changes:
            changes = "; ".join(f"{name} {change}" for name, change in folder.changes.items())
            errors().print(f"resuming {run} with {changes}", soft_wrap=True)
    starts = [*known_starts, *given_starts, *default_starts(env.action_space)]
    return folder, replace(options, starts=starts or None)


@dataclass(frozen=True, slots=True)
class _Searched:
    """The programs to search and the factory of their environments."""

    make_env: "Callable[[], CompilerEnv]"
    benchmarks: "Sequence[Benchmark]"

    def results(
        self,
        options: SearchOptions,
        folder: "RunFolder | None",
        log: "ProgressLog | None",
        *,
        is_quiet: bool,
    ) -> "list[SearchResult]":
        """Search, and write the results to the run folder."""
        from compiler_gym.search import KeepingWatcher, keep_results, run_search

        watcher = _ProgressLine(log, is_quiet=is_quiet)
        notified = watcher if folder is None else KeepingWatcher(folder, watcher)
        try:
            results = run_search(self.make_env, self.benchmarks, options, watcher=notified)
        finally:
            watcher.close()
        if folder is not None:
            with folder:
                keep_results(folder, results)
        return results

    def costs(self, results: "Sequence[SearchResult]") -> "list[Costs | None]":
        """Return the costs of each program, in bytes, instructions or seconds."""
        with self.make_env() as env:
            return [
                costs_of_episode(env, benchmark, result.actions, result.reward_space)
                for benchmark, result in zip(self.benchmarks, results, strict=True)
            ]


def _log(path: Path | None) -> "ProgressLog | None":
    from compiler_gym.search import ProgressLog

    return None if path is None else ProgressLog(path.with_name(f"{path.name}.progress.jsonl"))


class _ProgressLine:
    """Shows one line of progress on standard error, if that is a terminal."""

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

    def tick(self, seconds: float, programs: "Sequence[SearchProgress]") -> None:
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


def _show_results(
    results: "Sequence[SearchResult]",
    costs: "Sequence[Costs | None]",
    repeating: Sequence[str],
    output_file: Path | None,
) -> None:
    console = output()
    for rows in (_costs_table(results, costs), _work_table(results)):
        if rows is not None:
            show(rows, console)
    _show_failures(results)
    if len(results) == 1:
        program = program_name(results[0].benchmark)
        console.print(heading(program, ", reproduce with:"), soft_wrap=True)
        print_command(_write_command(results[0], program, repeating), console)
        if results[0].commandline:
            print_command(results[0].commandline, console)
    else:
        _show_summary([cost for cost in costs if cost is not None])
        if output_file is None:
            console.print("For the command lines, add --output FILE or search one program.")
        else:
            replay = shlex.join(["compiler-gym", "replay", str(output_file)])
            console.print(f"{output_file} has the command lines, and can be replayed:")
            print_command(replay, console)
    if results[0].is_interrupted:
        console.print("interrupted: these are the results so far", style="yellow")


def _show_summary(costs: "Sequence[Costs]") -> None:
    """Print the savings over all programs, compared with the compiler's first level."""
    level = next((name for cost in costs for name in cost.levels), "")
    pairs = [(cost.levels.get(level), cost.found) for cost in costs]
    ratios = [after / base for base, after in pairs if base and after]
    if ratios:
        lower, higher = sum(ratio < 1 for ratio in ratios), sum(ratio > 1 for ratio in ratios)
        output().print(
            f"On average {geometric_mean(ratios) - 1:+.1%} {costs[0].name} against {level}: "
            f"{lower} lower, {len(ratios) - lower - higher} equal, {higher} higher."
        )


def _repeating(env: str, action_space: str | None) -> list[str]:
    """Return the options for `run` that select the same environment and action space."""
    from compiler_gym.registration import find_compiler

    compiler = find_compiler(env)
    default_space = None if compiler is None else compiler.search_defaults.get("action_space")
    space = action_space or default_space
    options = [] if env == DEFAULT_ENVIRONMENT else ["--env", env]
    return options if space is None else [*options, "--action-space", space]


def _write_command(result: "SearchResult", program: str, repeating: Sequence[str]) -> str:
    """Return the command that applies the result."""
    return shlex.join(["compiler-gym", "run", program, *result.action_names, *repeating])


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
            style_text(number(cost.found), "bold"),
            change(cost.levels[options[0]], cost.found),
        )
    return rows


def _work_table(results: "Sequence[SearchResult]") -> "Table":
    numbers = ("Reward", "Actions", "Tried", "Known", "Failures")
    rows = table(
        "Program",
        *numbers,
        right=numbers,
        typed=("Program",),
        title=f"Reward {results[0].reward_space}. Tried = action sequences evaluated;\n"
        "Known = how many of them reached an already-seen program.",
    )
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
    """Print why sequences of each program failed, the most frequent reason first."""
    for result in results:
        for reason in result.failure_reasons[:_SHOWN_REASONS]:
            place = f" at {reason.action}" if reason.action else ""
            output().print(
                f"{result.benchmark}: {reason.count} failed{place}: {reason.type}: "
                f"{reason.details}",
                soft_wrap=True,
            )
        hidden = len(result.failure_reasons) - _SHOWN_REASONS
        if hidden > 0:
            output().print(f"{result.benchmark}: {hidden} more reasons; --json lists all")
