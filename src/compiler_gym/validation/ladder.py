# SPDX-License-Identifier: MIT
"""Run a ladder of checks, from cheap to expensive, and report each separately.

The first rung replays the state in a fresh process; the others examine the result of the replay,
and the last runs the program's callbacks. A check without a verdict reports "unknown", which never
counts as a failure; so does an error of the library or the machine. Each compiler defines its
own rungs between the first and the last.
"""

import inspect
import math
import os
import subprocess
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any

from compiler_gym.core import CompilerEnv, CompilerEnvState, StateVersionWarning, require_state
from compiler_gym.datasets import (
    Benchmark,
    ValidationCallback,
    collect_findings,
    runs_as_expected,
)
from compiler_gym.errors import (
    CompilerGymError,
    CompilerGymWarning,
    ServiceError,
    UnknownNameError,
    warn_of_the_caller,
)
from compiler_gym.errors.nearest import unknown_name
from compiler_gym.sandbox import choose_tier
from compiler_gym.spaces import Reward
from compiler_gym.validation.result import (
    RungResult,
    ValidationError,
    ValidationResult,
    Verdict,
    machine_trouble,
)

_TOLERANCE = 1e-9
"""Relative: rewards are sums of a few quotients, added in a different order."""
_PRINTED = 5e-7
"""Absolute: other tools print rewards with six digits."""


def replay(env: CompilerEnv, state: CompilerEnvState) -> CompilerEnvState:
    """Bring `env` to `state`, with the reward space of `state`, and return the new state.

    Raises the typed error of an action space, a program or a compiler that fails.
    """
    if state.reward_space is not None and state.reward_space in env.reward:
        env.reward_space = state.reward_space
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StateVersionWarning)  # the caller compares versions
        env.apply(state)
    return env.state


def replay_differences(
    recorded: CompilerEnvState,
    replayed: CompilerEnvState,
    rewards: Mapping[str, Reward] | None = None,
) -> list[ValidationError]:
    """Return the differences between a replay and the recorded state, except compiler versions.

    With `rewards`, by name, measured rewards are not compared: they vary between runs.
    """
    errors: list[ValidationError] = []
    spaces = (recorded.reward_space, replayed.reward_space)
    comparable = None in spaces or spaces[0] == spaces[1]
    space = (rewards or {}).get(recorded.reward_space or "")
    comparable = comparable and (space is None or space.deterministic)
    if comparable and not _same_reward(recorded.reward, replayed.reward):
        errors.append(
            ValidationError(
                "the replay earns a different reward",
                {"reward": recorded.reward, "replayed": replayed.reward},
            )
        )
    if recorded.state_hash and replayed.state_hash and recorded.state_hash != replayed.state_hash:
        errors.append(
            ValidationError(
                "the replay reaches a different program",
                {"hash": recorded.state_hash, "replayed": replayed.state_hash},
            )
        )
    return errors


def _same_reward(recorded: float | None, replayed: float | None) -> bool:
    if recorded is None or replayed is None:
        return True
    return math.isclose(recorded, replayed, rel_tol=_TOLERANCE, abs_tol=_PRINTED)


REPLAY = "replay"
"""The name of the first rung."""

CALLBACKS = "callbacks"
"""The name of the last rung: the checks added to the program."""

REWARD_DIFFERS = "the replay earns a different reward"


@dataclass(slots=True)
class Subject:
    """A replayed state and the environment that holds its result."""

    state: CompilerEnvState
    make_env: Callable[[], CompilerEnv]
    """Makes a new environment."""
    env: CompilerEnv
    """The environment after the last action of the state."""
    benchmark: Benchmark
    """The program before any action."""
    actions: tuple[Any, ...]
    """The actions of the state."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check: its verdict, its errors, and a one-line reason."""

    verdict: Verdict
    reason: str = ""
    errors: tuple[ValidationError, ...] = ()

    @classmethod
    def ok(cls, reason: str = "") -> "Finding":
        """Return a finding of no errors."""
        return cls(Verdict.OK, reason)

    @classmethod
    def unknown(cls, reason: str) -> "Finding":
        """Return a finding without a verdict, for `reason`."""
        return cls(Verdict.UNKNOWN, reason)

    @classmethod
    def fail(cls, errors: Iterable[ValidationError], reason: str = "") -> "Finding":
        """Return a finding of `errors`."""
        return cls(Verdict.FAILED, reason, tuple(errors))

    failed = fail
    """The earlier name of `fail`."""


def _always(subject: Subject) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Rung:
    """One check: its name, its question, and the function that answers it."""

    name: str
    question: str
    """The question that the check answers, as a sentence."""
    check: Callable[[Subject], Finding]
    applies: Callable[[Subject], bool] = field(default=_always)
    """True if the question makes sense for a program; otherwise the rung is skipped."""
    is_semantic: bool = True
    """True if it tests the behaviour of the program rather than its form."""


def _list_added(benchmark: Benchmark) -> list[ValidationCallback]:
    """Return the checks added to `benchmark`, without its runs: the compiler has rungs for them."""
    if type(benchmark).ivalidate is not Benchmark.ivalidate:
        return [benchmark.ivalidate]  # the program's own check
    callbacks = benchmark.validation_callbacks()
    return [callback for callback in callbacks if callback is not runs_as_expected]


def _check_callbacks(subject: Subject) -> Finding:
    callbacks = _list_added(subject.benchmark)
    errors = [error for callback in callbacks for error in _call(callback, subject.env)]
    count = f"{len(callbacks)} callback{'s' * (len(callbacks) != 1)}"
    return Finding.fail(errors, count) if errors else Finding.ok(count)


def _call(callback: ValidationCallback, env: CompilerEnv) -> list[ValidationError]:
    """Return the findings of `callback`; an error that it raises itself is a finding."""
    try:
        findings = collect_findings(callback, env)
    except (CompilerGymError, OSError):
        raise  # the machine or the compiler failed: no verdict
    except Exception as error:
        name = getattr(callback, "__name__", str(callback))
        facts = {"callback": name, "error": type(error).__name__, "details": str(error)}
        return [ValidationError("a validation callback raised an error", facts)]
    return [e if isinstance(e, ValidationError) else ValidationError(str(e)) for e in findings]


_CALLBACKS_RUNG = Rung(
    CALLBACKS,
    "Do the checks added to the program pass?",
    _check_callbacks,
    applies=lambda subject: bool(_list_added(subject.benchmark)),
)


def choose_rungs(rungs: Sequence[Rung], names: Iterable[str] | None) -> list[Rung]:
    """Return those of `rungs` that `names` lists, in their own order; None selects all.

    The replay and the checks added to the program always run. Raises `UnknownNameError` for the
    name of a rung that does not exist.
    """
    if names is None:
        return list(rungs)
    selected, available = set(names) - {REPLAY, CALLBACKS}, [rung.name for rung in rungs]
    for name in sorted(selected - set(available)):
        raise UnknownNameError(unknown_name("rung", name, [REPLAY, *available, CALLBACKS]))
    return [rung for rung in rungs if rung.name in selected]


def climb(
    state: CompilerEnvState, make_env: Callable[[], CompilerEnv], rungs: Sequence[Rung] = ()
) -> ValidationResult:
    """Return the result of a replay of `state`, of each of `rungs` and of the callbacks."""
    require_state(state)
    started = time.monotonic()
    try:
        new_env = make_env()
    except (ServiceError, OSError, MemoryError) as error:
        reason = f"cannot make an environment: {type(error).__name__}: {error}"
        unmade = _make_result(REPLAY, started, Finding.unknown(reason))
        return ValidationResult(state, unmade.seconds, rungs=(unmade,))
    with new_env as env:
        first, replayed = _replay(env, state)
        results = [first]
        semantic: list[RungResult] = []
        if replayed is not None:
            assert env.benchmark is not None
            subject = Subject(state, make_env, env, env.benchmark, tuple(env.actions))
            for rung in (*rungs, _CALLBACKS_RUNG):
                if rung.applies(subject):
                    results.append(_run_rung(rung, subject))
                    semantic += [results[-1]] if rung.is_semantic else []
    wrong_reward = any(error.type == REWARD_DIFFERS for error in first.errors)
    return ValidationResult(
        state,
        time.monotonic() - started,
        reward_validated=_has_compared_rewards(state, replayed),
        actions_replay_failed=first.verdict is Verdict.FAILED and replayed is None,
        reward_validation_failed=wrong_reward,
        benchmark_semantics_validated=any(r.verdict is Verdict.OK for r in semantic),
        benchmark_semantics_validation_failed=any(r.verdict is Verdict.FAILED for r in semantic),
        errors=tuple(error for result in results for error in result.errors),
        rungs=tuple(results),
        sandbox=choose_tier().value,
    )


def not_replayed(error: BaseException) -> Finding:
    """Return the finding for a replay that raised `error`: failed, or unknown."""
    if trouble := machine_trouble(error):
        return Finding.unknown(f"not replayed: {trouble}")
    details = {"error": type(error).__name__, "details": str(error)}
    return Finding.fail([ValidationError("the actions cannot be replayed", details)])


def validate_by_replay(
    state: CompilerEnvState, make_env: Callable[[], CompilerEnv]
) -> ValidationResult:
    """Check that a fresh environment reaches the hash and the reward of `state`."""
    return climb(state, make_env)


def _replay(
    env: CompilerEnv, state: CompilerEnvState
) -> tuple[RungResult, CompilerEnvState | None]:
    started = time.monotonic()
    try:
        replayed = replay(env, state)
    except (CompilerGymError, ValueError, OSError, MemoryError) as error:
        return _make_result(REPLAY, started, not_replayed(error)), None
    if state.has_reward and env.reward_space is None:
        warn_of_the_caller(
            "cannot compare the reward: the state names no reward space and the environment has "
            "none; make it with make(..., reward_space=NAME)",
            CompilerGymWarning,
        )
    errors = replay_differences(state, replayed, env.reward.spaces)
    varying = ", ".join(replayed.varying_actions or ())
    versions = state.compiler_version, replayed.compiler_version
    if None not in versions and versions[0] != versions[1]:
        differs = "; ".join(map(str, errors)) or "the replay agrees"
        finding = Finding.unknown(
            f"recorded with compiler version {versions[0]}, replayed with {versions[1]}: {differs}"
        )
    elif errors and varying:
        finding = Finding.unknown(
            f"{varying}: results vary between runs, so a replay may differ: "
            f"{'; '.join(map(str, errors))}"
        )
    elif errors:
        finding = Finding.fail(errors)
    elif state.has_reward and not _agreement(state, replayed):
        finding = Finding.unknown("cannot compare the reward: set the reward space it belongs to")
    else:
        agreement = _agreement(state, replayed) or "the state has no reward or hash to compare"
        finding = Finding.ok(f"{agreement}, but {varying} may vary" if varying else agreement)
    return _make_result(REPLAY, started, finding), replayed


def _run_rung(rung: Rung, subject: Subject) -> RungResult:
    started = time.monotonic()
    try:
        finding = rung.check(subject)
    except (CompilerGymError, OSError, MemoryError, subprocess.TimeoutExpired) as error:
        finding = Finding.unknown(f"{type(error).__name__}: {error}")
    return _make_result(rung.name, started, finding)


def _make_result(name: str, started: float, finding: Finding) -> RungResult:
    seconds = time.monotonic() - started
    return RungResult(name, finding.verdict, seconds, finding.reason, finding.errors)


def _has_compared_rewards(state: CompilerEnvState, replayed: CompilerEnvState | None) -> bool:
    return replayed is not None and state.has_reward and replayed.has_reward


def _agreement(state: CompilerEnvState, replayed: CompilerEnvState) -> str:
    compared = ["reward"] if _has_compared_rewards(state, replayed) else []
    compared += ["hash"] if state.state_hash and replayed.state_hash else []
    return f"same {' and '.join(compared)}" if compared else ""


def validate_states(
    make_env: Callable[[], CompilerEnv],
    states: Iterable[CompilerEnvState],
    nproc: int | None = None,
    inorder: bool = False,
    **options: Any,
) -> Generator[ValidationResult, None, None]:
    """Yield a result for each of `states` as soon as it is ready.

    `nproc` states are validated in parallel (default: one per processor). With `inorder`
    the results come in the order of the states. `options` are passed to ``env.validate``;
    raises `UnknownNameError` for the name of a check that does not exist. A state that
    cannot be validated gives a result with the error in it. Closing the iterator stops
    after the states in progress.
    """
    jobs = nproc or len(os.sched_getaffinity(0))
    pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="validate")
    source = iter(states)
    waiting: list[Future[ValidationResult]] = []
    try:
        while True:
            while len(waiting) < 2 * jobs and (state := next(source, None)) is not None:
                # The sandbox chosen by the caller applies in the threads too.
                job = copy_context().run
                waiting.append(pool.submit(job, _validate, make_env, state, options))
            if not waiting:
                return
            for future in [waiting[0]] if inorder else _wait_for_one(waiting):
                waiting.remove(future)
                yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _wait_for_one(waiting: list[Future[ValidationResult]]) -> list[Future[ValidationResult]]:
    done, _ = wait(waiting, return_when=FIRST_COMPLETED)
    return [future for future in waiting if future in done]


def _validate(
    make_env: Callable[[], CompilerEnv], state: CompilerEnvState, options: dict[str, Any]
) -> ValidationResult:
    started = time.monotonic()
    try:
        with make_env() as env:
            return env.validate(state, **_normalise(env, options))
    except (CompilerGymError, OSError, MemoryError) as error:
        if isinstance(error, UnknownNameError) and options.get("rungs") is not None:
            raise  # the request is wrong, not the state
        if trouble := machine_trouble(error):
            seconds = time.monotonic() - started
            unknown = RungResult(REPLAY, Verdict.UNKNOWN, seconds, f"not replayed: {trouble}")
            return ValidationResult(state, seconds, rungs=(unknown,))
        if not isinstance(error, CompilerGymError):
            raise
        finding = ValidationError(
            "the state cannot be validated",
            {"error": type(error).__name__, "details": str(error)},
        )
        return ValidationResult(state, 0.0, actions_replay_failed=True, errors=(finding,))


def _normalise(env: CompilerEnv, options: dict[str, Any]) -> dict[str, Any]:
    """Return `options` without ``rungs=None`` if the environment has only one check."""
    accepts = inspect.signature(env.unwrapped.validate).parameters  # type: ignore[attr-defined]  # ours has it
    if "rungs" in accepts or "rungs" not in options:
        return options
    if options["rungs"] is not None:
        raise UnknownNameError("this environment has only one check: do not name any")
    return {name: value for name, value in options.items() if name != "rungs"}
