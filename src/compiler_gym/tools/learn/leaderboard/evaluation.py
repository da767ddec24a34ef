# SPDX-License-Identifier: MIT
"""Evaluate a policy on a task: run it on every program and measure where it ends.

A policy is a function that takes an environment at the start of an episode and
leaves it where it wants to be judged. If it has a second parameter it is given the
`Meter`, which knows the time that is left. If it has a method ``train``, that is called
once with what makes environments, the programs to learn from and the seconds for it.
"""

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

from compiler_gym.core import CompilerEnv, CompilerEnvState, state_from_fields
from compiler_gym.errors import CompilerGymError, EnvironmentNotSupported, StateFileError
from compiler_gym.registration import make
from compiler_gym.runs import RunFolder
from compiler_gym.tools.learn.leaderboard.metered import (
    LimitReached,
    Meter,
    Metered,
    MeteredTraining,
)
from compiler_gym.tools.learn.leaderboard.metrics import ScoredCost, ScoreSummary, summarise
from compiler_gym.tools.learn.leaderboard.task import LeaderboardTask, Limit

__all__ = ["Evaluation", "Outcome", "Policy", "call_policy", "evaluate"]

Policy = Callable[..., Any]
"""``policy(env)`` or ``policy(env, meter)``."""

_GRACE_SECONDS = 1.0
"""Seconds that a last step may run over the limit."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a policy on one program in one repetition."""

    state: CompilerEnvState
    repetition: int
    initial: float
    baseline: float
    found: float
    """The costs: at -O0, at the baseline, and where the policy ended."""
    walltime: float
    compilations: int
    is_late: bool = False
    """Whether the policy went over its time, here or while it learnt: it is not ranked then."""
    error: str = ""
    """How the policy or the compiler failed, if one did; the cost is the program's own then."""
    published: float | None = None
    """The cost at the baseline of publications, where the task names one."""

    def to_json(self) -> dict[str, Any]:
        """Return one line of a results file; it is a state for whoever reads states."""
        plain = asdict(self)
        if self.published is None:
            del plain["published"]
        state = {key: value for key, value in plain.pop("state").items() if value is not None}
        return {**state, **plain, "walltime": round(self.walltime, 3)}

    @classmethod
    def from_json(cls, line: dict[str, Any]) -> "Outcome":
        """Return the outcome in one line of a results file.

        Raises `StateFileError` for a field that lacks, or holds what it cannot: costs and
        times are finite numbers, the others are what they are here.
        """
        if not isinstance(line, dict):  # pyright: ignore[reportUnnecessaryIsInstance]  # from a file
            raise StateFileError(f"expected an object, found {type(line).__name__}")
        names = CompilerEnvState.__dataclass_fields__
        try:
            state = state_from_fields({key: line[key] for key in names if key in line})
        except ValueError as error:
            raise StateFileError(str(error)) from error
        if state.reward is not None and not math.isfinite(state.reward):
            raise StateFileError(f"reward is {state.reward}: expected a finite number")
        own = {key: read(line, key) for key, read in _FIELDS.items() if key in line}
        if missing := _REQUIRED - own.keys():
            raise StateFileError(f"{', '.join(sorted(missing))} is missing")
        return cls(state, **own)


def _cost_field(line: dict[str, Any], key: str) -> float:
    value = line[key]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise StateFileError(f"{key} is {value!r:.80}: expected a finite number >= 0")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not 0 <= number < math.inf:
        raise StateFileError(f"{key} is {number}: expected a finite number >= 0")
    return number


def _count_field(line: dict[str, Any], key: str) -> int:
    value = line[key]
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _MOST_COUNT:
        raise StateFileError(
            f"{key} is {value!r:.80}: expected a whole number from 0 to {_MOST_COUNT}"
        )
    return value


def _truth_field(line: dict[str, Any], key: str) -> bool:
    if not isinstance(line[key], bool):
        raise StateFileError(f"{key} is {line[key]!r:.80}: expected true or false")
    return line[key]


def _text_field(line: dict[str, Any], key: str) -> str:
    if not isinstance(line[key], str):
        raise StateFileError(f"{key} is {line[key]!r:.80}: expected text")
    return line[key]


_MOST_COUNT = 1 << 53
_FIELDS: dict[str, Callable[[dict[str, Any], str], Any]] = {
    "repetition": _count_field, "initial": _cost_field, "baseline": _cost_field,
    "found": _cost_field,
    "walltime": _cost_field, "compilations": _count_field, "is_late": _truth_field,
    "error": _text_field,
    "published": _cost_field,
}  # fmt: skip
_REQUIRED = frozenset(_FIELDS) - {"is_late", "error", "published"}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The results of a policy on a task."""

    task: LeaderboardTask
    outcomes: tuple[Outcome, ...]

    @property
    def costs(self) -> list[ScoredCost]:
        """What was measured on each program: the median of its repetitions."""
        programs = dict.fromkeys(outcome.state.benchmark for outcome in self.outcomes)
        return [
            ScoredCost(
                uri,
                found[0].initial,
                found[0].baseline,
                median(o.found for o in found),
                found[0].published,
            )
            for uri in programs
            if (found := [o for o in self.outcomes if o.state.benchmark == uri])
        ]

    @property
    def summary(self) -> ScoreSummary:
        """The metrics over all programs."""
        return summarise(self.costs, seed=self.task.seed)

    @property
    def walltime(self) -> float:
        """The mean wall time per program in seconds."""
        return _compute_mean(outcome.walltime for outcome in self.outcomes)

    @property
    def compilations(self) -> float:
        """The mean number of actions applied per program."""
        return _compute_mean(float(outcome.compilations) for outcome in self.outcomes)


def evaluate(
    policy: Policy,
    task: LeaderboardTask,
    *,
    programs: Sequence[str] = (),
    run: RunFolder | None = None,
    watch: Callable[[Outcome], None] = lambda outcome: None,
) -> Evaluation:
    """Return the results of `policy` on `task`, one program after the other.

    `programs` restricts a trial to some of them. With a `run` folder each outcome is
    kept when it is known, and those that are there are not repeated. Raises
    `EnvironmentNotSupported` for a compiler of another version than the task fixes.
    """
    chosen = task.only(tuple(programs)) if programs else task
    learnt_late = _train_policy(policy, chosen)
    outcomes: list[Outcome] = []
    for uri, repetition in _episodes(chosen):
        key = f"{uri} {repetition}"
        known = None if run is None else run.find_result(key)
        if known is not None:
            outcomes.append(Outcome.from_json(known))
            continue
        outcome = _measure_outcome(policy, chosen, uri, repetition)
        if learnt_late:
            outcome = replace(outcome, is_late=True)
        outcomes.append(outcome)
        if run is not None:
            run.record(key, outcome.to_json(), outcome.state)
            run.progress(len(outcomes), reward=outcome.state.reward or 0.0)
        watch(outcome)
    return Evaluation(chosen, tuple(outcomes))


def _train_policy(policy: Policy, task: LeaderboardTask) -> bool:
    """Let the policy learn, and return whether it took longer than it may.

    The step that would go beyond its time ends its training, and what it has then is
    judged, unless it learns elsewhere and does not watch the time.
    """
    train = getattr(policy, "train", None)
    if train is None or not task.train:
        return False
    meter = Meter(Limit(seconds=task.train_seconds))
    with suppress(LimitReached):
        train(
            lambda: MeteredTraining(_task_environment(task), meter, task.train),
            task.train,
            task.train_seconds,
        )
    return meter.seconds > task.train_seconds + _GRACE_SECONDS


def _episodes(task: LeaderboardTask) -> Iterator[tuple[str, int]]:
    with _task_environment(task) as env:
        if not env.compiler_version.startswith(task.compiler_version):
            raise EnvironmentNotSupported(
                f"{task.name} is about version {task.compiler_version} of the compiler: "
                f"found {env.compiler_version}"
            )
        uris = list(task.uris(env))
    for repetition in range(task.repetitions):
        for uri in uris:
            yield uri, repetition


def _task_environment(task: LeaderboardTask) -> CompilerEnv:
    options: dict[str, Any] = {"reward_space": task.reward_space}
    if task.action_space is not None:
        options["action_space"] = task.action_space
    return make(task.environment, **options)


def _measure_outcome(policy: Policy, task: LeaderboardTask, uri: str, repetition: int) -> Outcome:
    with _task_environment(task) as env:
        env.reset(benchmark=uri, seed=task.seed + repetition)
        before, program = env.state, str(env.benchmark)
        initial, baseline, cost = (
            float(env.observation[name]) for name in (task.initial, task.baseline, task.cost)
        )
        other = task.published_baseline
        published = float(env.observation[other]) if other else None
        meter = Meter(task.limit)
        error = _run_policy(policy, Metered(env, meter), meter)
        walltime = meter.seconds
        seconds = task.limit.seconds
        is_late = seconds is not None and walltime > seconds + _GRACE_SECONDS
        unfair = _unfair(env, task, program)
        error, state = error or unfair, before
        if not unfair:
            try:
                state, cost = env.state, float(env.observation[task.cost])
            except CompilerGymError as failed:
                error = error or f"{type(failed).__name__}: {failed}"
        return Outcome(
            state=replace(state, walltime=walltime),
            repetition=repetition,
            initial=initial,
            baseline=baseline,
            found=cost,
            walltime=walltime,
            compilations=meter.compilations,
            is_late=is_late,
            error=error,
            published=published,
        )


def _run_policy(policy: Policy, env: Metered, meter: Meter) -> str:
    """Let the policy act and return how it failed, if it did."""
    try:
        used = call_policy(policy, env, meter)
    except LimitReached:
        return ""
    except CompilerGymError as error:
        return f"{type(error).__name__}: {error}"
    if isinstance(used, int) and not isinstance(used, bool):
        meter.compilations += used
    return ""


def _unfair(env: CompilerEnv, task: LeaderboardTask, program: str) -> str:
    """Return what a policy changed that a task fixes; empty if it left everything."""
    if str(env.benchmark) != program:
        return f"the policy changed the program to {env.benchmark}"
    space = None if env.reward_space is None else env.reward_space.name
    if space != task.reward_space:
        return f"the policy changed the reward space to {space}"
    return ""


def call_policy(policy: Policy, env: CompilerEnv, meter: Meter) -> Any:
    """Let `policy` act in `env`, and return what it returns; it is given `meter` if it takes it.

    Raises `LimitReached` where it would use more than it may, and what it raises itself.
    """
    return policy(env, meter) if _takes_meter(policy) else policy(env)


def _takes_meter(policy: Policy) -> bool:
    try:
        parameters = inspect.signature(policy).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in positional and p.default is p.empty for p in parameters) >= 2


def _compute_mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else 0.0
