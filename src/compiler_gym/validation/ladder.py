# SPDX-License-Identifier: MIT
"""Climb a ladder of checks, from cheap to dear, and report each by itself.

The first rung replays the state in a fresh process; every other one looks at what
the replay made, and the last asks the callbacks of the program. A rung that cannot tell
says so: it never counts as a failure, and an error of the library or the machine is one
of those. Which rungs there are is the compiler's business, but for the first and the last.
"""

import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from compiler_gym.core import CompilerEnv, CompilerEnvState, require_state
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
from compiler_gym.validation.replaying import replay, replay_differences
from compiler_gym.validation.result import (
    RungResult,
    ValidationError,
    ValidationResult,
    Verdict,
)
from compiler_gym.validation.trouble import machine_trouble

__all__ = [
    "CALLBACKS",
    "REPLAY",
    "Finding",
    "Rung",
    "Subject",
    "choose_rungs",
    "climb",
    "not_replayed",
    "validate_by_replay",
]

REPLAY = "replay"
"""The name of the first rung."""

CALLBACKS = "callbacks"
"""The name of the last rung: the checks that were added to the program."""

REWARD_DIFFERS = "the replay earns another reward"


@dataclass(slots=True)
class Subject:
    """A state that was replayed, and the environment that holds what came of it."""

    state: CompilerEnvState
    make_env: Callable[[], CompilerEnv]
    """Makes another fresh environment."""
    env: CompilerEnv
    """Stands at the end of the state."""
    benchmark: Benchmark
    """The program before any action."""
    actions: tuple[Any, ...]
    """The actions of the state."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check says: its verdict, its errors, and one line of why."""

    verdict: Verdict
    reason: str = ""
    errors: tuple[ValidationError, ...] = ()

    @classmethod
    def ok(cls, reason: str = "") -> "Finding":
        """Return that nothing wrong was found."""
        return cls(Verdict.OK, reason)

    @classmethod
    def unknown(cls, reason: str) -> "Finding":
        """Return that it could not be told, and why."""
        return cls(Verdict.UNKNOWN, reason)

    @classmethod
    def fail(cls, errors: Iterable[ValidationError], reason: str = "") -> "Finding":
        """Return what is wrong."""
        return cls(Verdict.FAILED, reason, tuple(errors))

    failed = fail
    """The earlier name of `fail`."""


def _always(subject: Subject) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Rung:
    """One check: its name, what it asks and how."""

    name: str
    question: str
    """What it asks, as a sentence."""
    check: Callable[[Subject], Finding]
    applies: Callable[[Subject], bool] = field(default=_always)
    """True if the question makes sense for a program; otherwise the rung is left out."""
    is_semantic: bool = True
    """True if it tells what the program does, rather than what it is."""


def _list_added(benchmark: Benchmark) -> list[ValidationCallback]:
    """Return the checks of `benchmark` but for its runs, which rungs of the compiler make."""
    if type(benchmark).ivalidate is not Benchmark.ivalidate:
        return [benchmark.ivalidate]  # a program's own way to check it
    callbacks = benchmark.validation_callbacks()
    return [callback for callback in callbacks if callback is not runs_as_expected]


def _check_callbacks(subject: Subject) -> Finding:
    callbacks = _list_added(subject.benchmark)
    errors = [error for callback in callbacks for error in _call(callback, subject.env)]
    asked = f"{len(callbacks)} callback{'s' * (len(callbacks) != 1)}"
    return Finding.fail(errors, asked) if errors else Finding.ok(asked)


def _call(callback: ValidationCallback, env: CompilerEnv) -> list[ValidationError]:
    """Return what `callback` finds; one that raises an error of its own has found that."""
    try:
        found = collect_findings(callback, env)
    except (CompilerGymError, OSError):
        raise  # the machine's trouble, or the compiler's: nothing is known of the program
    except Exception as error:
        name = getattr(callback, "__name__", str(callback))
        facts = {"callback": name, "error": type(error).__name__, "details": str(error)}
        return [ValidationError("a validation callback raised an error", facts)]
    return [one if isinstance(one, ValidationError) else ValidationError(str(one)) for one in found]


_CALLBACKS_RUNG = Rung(
    CALLBACKS,
    "Do the checks find nothing that were added to the program?",
    _check_callbacks,
    applies=lambda subject: bool(_list_added(subject.benchmark)),
)


def choose_rungs(rungs: Sequence[Rung], names: Iterable[str] | None) -> list[Rung]:
    """Return those of `rungs` that `names` lists, in their own order; None takes all.

    Raises `UnknownNameError` for a name that none has. The replay and the checks that were
    added to the program are always made.
    """
    if names is None:
        return list(rungs)
    wanted, known = set(names) - {REPLAY, CALLBACKS}, [rung.name for rung in rungs]
    for name in sorted(wanted - set(known)):
        raise UnknownNameError(unknown_name("rung", name, [REPLAY, *known, CALLBACKS]))
    return [rung for rung in rungs if rung.name in wanted]


def climb(
    state: CompilerEnvState, make_env: Callable[[], CompilerEnv], rungs: Sequence[Rung] = ()
) -> ValidationResult:
    """Return what a replay of `state`, each of `rungs` and the program's callbacks say."""
    require_state(state)
    started = time.monotonic()
    try:
        made = make_env()
    except (ServiceError, OSError, MemoryError) as error:
        reason = f"no environment can be made: {type(error).__name__}: {error}"
        unmade = _result_of_rungs(REPLAY, started, Finding.unknown(reason))
        return ValidationResult(state, unmade.seconds, rungs=(unmade,))
    with made as env:
        first, replayed = _replay(env, state)
        results = [first]
        semantic: list[RungResult] = []
        if replayed is not None:
            assert env.benchmark is not None
            subject = Subject(state, make_env, env, env.benchmark, tuple(env.actions))
            for rung in (*rungs, _CALLBACKS_RUNG):
                if rung.applies(subject):
                    results.append(_ask_rung(rung, subject))
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
    """Return what it means that a replay ended with `error`: a wrong state, or nothing."""
    if trouble := machine_trouble(error):
        return Finding.unknown(f"not replayed: {trouble}")
    details = {"error": type(error).__name__, "details": str(error)}
    return Finding.fail([ValidationError("the actions cannot be replayed", details)])


def validate_by_replay(
    state: CompilerEnvState, make_env: Callable[[], CompilerEnv]
) -> ValidationResult:
    """Return whether a fresh environment reaches the hash and the reward of `state`."""
    return climb(state, make_env)


def _replay(
    env: CompilerEnv, state: CompilerEnvState
) -> tuple[RungResult, CompilerEnvState | None]:
    started = time.monotonic()
    try:
        replayed = replay(env, state)
    except (CompilerGymError, ValueError, OSError, MemoryError) as error:
        return _result_of_rungs(REPLAY, started, not_replayed(error)), None
    if state.has_reward and env.reward_space is None:
        warn_of_the_caller(
            "the state has a reward and names no reward space, and the environment has none: its "
            "reward is not compared; expected make(..., reward_space=NAME)",
            CompilerGymWarning,
        )
    errors = replay_differences(state, replayed, env.reward.spaces)
    varying = ", ".join(replayed.varying_actions or ())
    versions = state.compiler_version, replayed.compiler_version
    if None not in versions and versions[0] != versions[1]:
        differs = "; ".join(map(str, errors)) or "the replay gives the same"
        finding = Finding.unknown(
            f"recorded with version {versions[0]} of the compiler, replayed with {versions[1]}: "
            f"{differs}"
        )
    elif errors and varying:
        finding = Finding.unknown(
            f"{varying}: other results in other runs, no replay is promised: "
            f"{'; '.join(map(str, errors))}"
        )
    elif errors:
        finding = Finding.fail(errors)
    elif state.has_reward and not _agreement(state, replayed):
        finding = Finding.unknown("no reward to compare with: which space is the recorded one of?")
    else:
        said = _agreement(state, replayed) or "nothing was recorded to compare with"
        finding = Finding.ok(f"{said}, this time: {varying} varies" if varying else said)
    return _result_of_rungs(REPLAY, started, finding), replayed


def _ask_rung(rung: Rung, subject: Subject) -> RungResult:
    started = time.monotonic()
    try:
        finding = rung.check(subject)
    except (CompilerGymError, OSError, MemoryError, subprocess.TimeoutExpired) as error:
        finding = Finding.unknown(f"{type(error).__name__}: {error}")
    return _result_of_rungs(rung.name, started, finding)


def _result_of_rungs(name: str, started: float, finding: Finding) -> RungResult:
    seconds = time.monotonic() - started
    return RungResult(name, finding.verdict, seconds, finding.reason, finding.errors)


def _has_compared_rewards(state: CompilerEnvState, replayed: CompilerEnvState | None) -> bool:
    return replayed is not None and state.has_reward and replayed.has_reward


def _agreement(state: CompilerEnvState, replayed: CompilerEnvState) -> str:
    compared = ["reward"] if _has_compared_rewards(state, replayed) else []
    compared += ["hash"] if state.state_hash and replayed.state_hash else []
    return f"same {' and '.join(compared)}" if compared else ""
