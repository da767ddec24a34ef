# SPDX-License-Identifier: MIT
"""Evaluate a policy on a task: run it on every program and measure the final cost.

A policy is a function that takes an environment at the start of an episode and leaves it in the
state to be judged. A second parameter receives the `Meter`, which counts the remaining time. If the
policy has a method ``train``, it is called once with a function that makes environments, the
programs to learn from and the seconds available.
"""

import inspect
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from statistics import fmean, median
from typing import Annotated, Any, Self, get_type_hints

import msgspec

from compiler_gym.core import (
    CompilerEnv,
    CompilerEnvState,
    ResetArguments,
    ResetResult,
    StepArguments,
    StepTuple,
    state_from_fields,
)
from compiler_gym.datasets import BenchmarkUri
from compiler_gym.errors import CompilerGymError, InvalidParameterError, StateFileError
from compiler_gym.registration import make
from compiler_gym.runs import RunFolder
from compiler_gym.tools.learn.leaderboard.task import (
    LeaderboardTask,
    Limit,
    ScoredCost,
    ScoreSummary,
    summarise,
)
from compiler_gym.wrappers import CompilerEnvWrapper

Policy = Callable[..., Any]
"""``policy(env)`` or ``policy(env, meter)``."""

_GRACE_SECONDS = 1.0
"""The time in seconds by which a last step may exceed the limit."""


class LimitReached(Exception):
    """The policy reached its limit; raised by the step that would exceed it.

    The environment stays in the state before that step, which is the result. A policy that wants
    to end in another state must watch its own time.
    """


class Meter:
    """The resources used so far by an environment and all its forks."""

    def __init__(self, limit: Limit) -> None:
        self.limit = limit
        self.compilations = 0
        """The number of actions applied, or of sequences if the limit counts them."""
        self.started = time.monotonic()

    @property
    def seconds(self) -> float:
        """The wall time since the start, in seconds."""
        return time.monotonic() - self.started

    @property
    def seconds_left(self) -> float:
        """The wall time left, in seconds; infinite without a limit."""
        seconds = self.limit.seconds
        return float("inf") if seconds is None else seconds - self.seconds

    def charge(self, compilations: int) -> None:
        """Count actions that are about to be applied, or raise `LimitReached`."""
        most = self.limit.compilations
        if most is not None and self.compilations + compilations > most:
            raise LimitReached(f"the policy reached its limit of {most} compilations")
        if self.seconds_left <= 0:
            raise LimitReached(f"the policy reached its limit of {self.limit.seconds:g} s")
        self.compilations += compilations

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # forks share the meter


class Metered(CompilerEnvWrapper):
    """An environment that charges every action to ``env.meter``, which forks share."""

    def __init__(self, env: CompilerEnv, meter: Meter) -> None:
        super().__init__(env)
        self.meter = meter
        """The resources used so far."""
        self._begins = True
        """True until the first action after a reset or a fork."""

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """Start an episode, which is another sequence once it has an action."""
        self._begins = True
        return super().handle_reset(asked)

    def apply(self, state: CompilerEnvState) -> None:
        """Return to `state`; the next action begins another sequence."""
        self._begins = True
        super().apply(state)

    def fork(self) -> Self:
        """Return a fork; its first action begins another sequence."""
        twin = super().fork()
        twin._begins = True
        return twin

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Charge the actions, or the sequence that they begin, and apply them."""
        begins = self._begins and bool(asked.actions)
        self.meter.charge(begins if self.meter.limit.per_sequence else len(asked.actions))
        self._begins = self._begins and not begins
        return super().handle_step(asked)


class MeteredTraining(Metered):
    """An environment for training, which accepts only programs of the training set."""

    def __init__(self, env: CompilerEnv, meter: Meter, programs: tuple[str, ...]) -> None:
        super().__init__(env, meter)
        self.programs = programs
        """Datasets or addresses of programs."""

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """Start an episode, or raise `LimitReached` once the time is used up.

        Raises `InvalidParameterError` for a program outside the training set.
        """
        self.meter.charge(0)
        result = super().handle_reset(asked)
        self._check()
        return result

    def apply(self, state: CompilerEnvState) -> None:
        """Bring the environment to `state`, of a program in the training set."""
        super().apply(state)
        self._check()

    def _check(self) -> None:
        program = BenchmarkUri.from_string(str(self.benchmark))
        allowed = {BenchmarkUri.canonicalize(name) for name in self.programs}
        if allowed.isdisjoint((program.dataset_name, str(program.without_params()))):
            raise InvalidParameterError(
                f"{program} is not in the training set: pass a program of "
                f"{', '.join(self.programs)} to reset(benchmark=...)"
            )


Cost = Annotated[float, msgspec.Meta(ge=0)]
Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a policy on one program in one repetition."""

    state: CompilerEnvState
    repetition: Count
    initial: Cost
    baseline: Cost
    found: Cost
    """The costs at -O0 (`initial`), at the baseline, and after the policy (`found`)."""
    walltime: Cost
    compilations: Count
    is_late: bool = False
    """True if the policy exceeded its time, here or in training; it is not ranked then."""
    error: str = ""
    """The failure of the policy or the compiler, if any; `found` is the original cost then."""
    published: Cost | None = None
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
        try:
            fields = CompilerEnvState.__dataclass_fields__
            state = state_from_fields({key: line[key] for key in fields if key in line})
            types = get_type_hints(cls, include_extras=True)
            del types["state"]
            own = {key: msgspec.convert(line[key], types[key]) for key in types if key in line}
            numbers = [state.reward or 0.0, *(n for n in own.values() if isinstance(n, float))]
            if not all(map(math.isfinite, numbers)):
                raise ValueError("costs, times and the reward must be finite numbers")
            return cls(state, **own)
        except (AttributeError, TypeError, ValueError, OverflowError) as error:
            raise StateFileError(f"not a result: {error}") from error


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
        return fmean(outcome.walltime for outcome in self.outcomes) if self.outcomes else 0.0

    @property
    def compilations(self) -> float:
        """The mean number of compilations per program, in the unit of the limit."""
        return fmean(o.compilations for o in self.outcomes) if self.outcomes else 0.0


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
    already there are not repeated.
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
