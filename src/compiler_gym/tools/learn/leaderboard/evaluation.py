# SPDX-License-Identifier: MIT
"""Evaluate a policy on a task: run it on every program and measure the final cost.

A policy is a function that takes an environment at the start of an episode and leaves it in the
state to be judged. A second parameter receives the `Meter`, which counts the remaining time. If the
policy has a method ``train``, it is called once with a function that makes environments, the
programs to learn from and the seconds available.
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
"""The time in seconds by which a last step may exceed the limit."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a policy on one program in one repetition."""

    state: CompilerEnvState
    repetition: int
    initial: float
    baseline: float
    found: float
    """The costs at -O0 (`initial`), at the baseline, and after the policy (`found`)."""
    walltime: float
    compilations: int
    is_late: bool = False
    """True if the policy exceeded its time, here or in training; it is not ranked then."""
    error: str = ""
    """The failure of the policy or the compiler, if any; `found` is the original cost then."""
    published: float | None = None
    """The cost at the baseline used in publications, if the task names one."""

    def to_json(self) -> dict[str, Any]:
        """Return one line of a results file, which can also be read as a state."""
        plain = asdict(self)
        if self.published is None:
            del plain["published"]
        state = {key: value for key, value in plain.pop("state").items() if value is not None}
        return {**state, **plain, "walltime": round(self.walltime, 3)}

    @classmethod
    def from_json(cls, line: dict[str, Any]) -> "Outcome":
        """Return the outcome in one line of a results file.

        Raises `StateFileError` for a missing or invalid field: costs and times must be finite
        numbers, and other fields must have the types declared here.
        """
        if not isinstance(line, dict):  # pyright: ignore[reportUnnecessaryIsInstance]  # from a file
            raise StateFileError(f"a result must be a JSON object (got {type(line).__name__})")
        names = CompilerEnvState.__dataclass_fields__
        try:
            state = state_from_fields({key: line[key] for key in names if key in line})
        except ValueError as error:
            raise StateFileError(str(error)) from error
        if state.reward is not None and not math.isfinite(state.reward):
            raise StateFileError(f"reward must be a finite number (got {state.reward})")
        own = {key: read(line, key) for key, read in _FIELDS.items() if key in line}
        if missing := _REQUIRED - own.keys():
            raise StateFileError(f"{', '.join(sorted(missing))} is missing")
        return cls(state, **own)


def _cost_field(line: dict[str, Any], key: str) -> float:
    value = line[key]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise StateFileError(f"{key} must be a finite number of at least 0 (got {value!r:.80})")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not 0 <= number < math.inf:
        raise StateFileError(f"{key} must be a finite number of at least 0 (got {number})")
    return number


def _count_field(line: dict[str, Any], key: str) -> int:
    value = line[key]
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _MOST_COUNT:
        raise StateFileError(
            f"{key} must be an integer from 0 to {_MOST_COUNT} (got {value!r:.80})"
        )
    return value


def _truth_field(line: dict[str, Any], key: str) -> bool:
    if not isinstance(line[key], bool):
        raise StateFileError(f"{key} must be true or false (got {line[key]!r:.80})")
    return line[key]


def _text_field(line: dict[str, Any], key: str) -> str:
    if not isinstance(line[key], str):
        raise StateFileError(f"{key} must be a string (got {line[key]!r:.80})")
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
        """The measured costs of each program: the median of its repetitions."""
        programs = dict.fromkeys(outcome.state.benchmark for outcome in self.outcomes)
        return [
            ScoredCost(
                uri,
                repeated[0].initial,
                repeated[0].baseline,
                median(o.found for o in repeated),
                repeated[0].published,
            )
            for uri in programs
            if (repeated := [o for o in self.outcomes if o.state.benchmark == uri])
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

    `programs` restricts a trial to some programs. A `run` folder records each outcome, and those
    already there are not repeated. Raises `EnvironmentNotSupported` if the compiler does not have
    the version that the task requires.
    """
    trial = task.only(tuple(programs)) if programs else task
    trained_late = _train_policy(policy, trial)
    outcomes: list[Outcome] = []
    for uri, repetition in _episodes(trial):
        key = f"{uri} {repetition}"
        recorded = None if run is None else run.find_result(key)
        if recorded is not None:
            outcomes.append(Outcome.from_json(recorded))
            continue
        outcome = _measure_outcome(policy, trial, uri, repetition)
        if trained_late:
            outcome = replace(outcome, is_late=True)
        outcomes.append(outcome)
        if run is not None:
            run.record(key, outcome.to_json(), outcome.state)
            run.progress(len(outcomes), reward=outcome.state.reward or 0.0)
        watch(outcome)
    return Evaluation(trial, tuple(outcomes))


def _train_policy(policy: Policy, task: LeaderboardTask) -> bool:
    """Train the policy, and return whether it exceeded its time.

    The first step after the time limit ends the training, and the policy is judged as it is then.
    A policy that learns without stepping these environments must watch the time itself.
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
                f"{task.name} needs version {task.compiler_version} of the compiler; this is "
                f"{env.compiler_version}"
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
        published_name = task.published_baseline
        published = float(env.observation[published_name]) if published_name else None
        meter = Meter(task.limit)
        error = _run_policy(policy, Metered(env, meter), meter)
        walltime = meter.seconds
        seconds = task.limit.seconds
        is_late = seconds is not None and walltime > seconds + _GRACE_SECONDS
        violation = _find_violation(env, task, program)
        error, state = error or violation, before
        if not violation:
            try:
                state, cost = env.state, float(env.observation[task.cost])
            except CompilerGymError as failure:
                error = error or f"{type(failure).__name__}: {failure}"
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
    """Run the policy and return its error; empty if it succeeded."""
    try:
        compilations = call_policy(policy, env, meter)
    except LimitReached:
        return ""
    except CompilerGymError as error:
        return f"{type(error).__name__}: {error}"
    if isinstance(compilations, int) and not isinstance(compilations, bool):
        meter.compilations += compilations
    return ""


def _find_violation(env: CompilerEnv, task: LeaderboardTask, program: str) -> str:
    """Return the violation if the policy changed a fixed setting of the task; else empty."""
    if str(env.benchmark) != program:
        return f"the policy changed the program to {env.benchmark}"
    space = None if env.reward_space is None else env.reward_space.name
    if space != task.reward_space:
        return f"the policy changed the reward space to {space}"
    return ""


def call_policy(policy: Policy, env: CompilerEnv, meter: Meter) -> Any:
    """Run `policy` in `env` and return its result; pass `meter` if it accepts one.

    Raises `LimitReached` if it exceeds a limit, and any exception of the policy.
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
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else 0.0
