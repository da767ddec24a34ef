# SPDX-License-Identifier: MIT
"""Climb a ladder of checks, from cheap to dear, and report each by itself.

The first rung replays the state in a fresh process; every other one looks at what
the replay made. A rung that cannot tell says so: it never counts as a failure, and
an error of the library or the machine is one of those. Which rungs there are is
the compiler's business, except for the first.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from compiler_gym.core import CompilerEnv, CompilerEnvState
from compiler_gym.datasets import Benchmark
from compiler_gym.errors import CompilerGymError, UnknownNameError
from compiler_gym.nearest import unknown_name
from compiler_gym.validation.replaying import replay, replay_differences
from compiler_gym.validation.result import (
    RungResult,
    ValidationError,
    ValidationResult,
    Verdict,
)

__all__ = ["REPLAY", "Finding", "Rung", "Subject", "choose_rungs", "climb", "validate_by_replay"]

REPLAY = "replay"
"""The name of the first rung."""

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
    def failed(cls, errors: Iterable[ValidationError], reason: str = "") -> "Finding":
        """Return what is wrong."""
        return cls(Verdict.FAILED, reason, tuple(errors))


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
    """Whether the question makes sense for a program; otherwise the rung is left out."""
    is_semantic: bool = True
    """Whether it tells what the program does, rather than what it is."""


def choose_rungs(rungs: Sequence[Rung], names: Iterable[str] | None) -> list[Rung]:
    """Return those of `rungs` that `names` lists, in their own order; None takes all.

    Raises `UnknownNameError` for a name that none has. The replay is always made.
    """
    if names is None:
        return list(rungs)
    wanted, known = set(names) - {REPLAY}, [rung.name for rung in rungs]
    for name in sorted(wanted - set(known)):
        raise UnknownNameError(unknown_name("rung", name, [REPLAY, *known]))
    return [rung for rung in rungs if rung.name in wanted]


def climb(
    state: CompilerEnvState, make_env: Callable[[], CompilerEnv], rungs: Sequence[Rung] = ()
) -> ValidationResult:
    """Return what a replay of `state` and then each of `rungs` says."""
    started = time.monotonic()
    with make_env() as env:
        first, replayed = _replay(env, state)
        results = [first]
        semantic: list[RungResult] = []
        if replayed is not None:
            assert env.benchmark is not None
            subject = Subject(state, make_env, env, env.benchmark, tuple(env.actions))
            for rung in rungs:
                if rung.applies(subject):
                    results.append(_ask(rung, subject))
                    semantic += [results[-1]] if rung.is_semantic else []
    wrong_reward = any(error.type == REWARD_DIFFERS for error in first.errors)
    return ValidationResult(
        state,
        time.monotonic() - started,
        reward_validated=_has_compared_rewards(state, replayed),
        actions_replay_failed=replayed is None,
        reward_validation_failed=wrong_reward,
        benchmark_semantics_validated=any(r.verdict is Verdict.OK for r in semantic),
        benchmark_semantics_validation_failed=any(r.verdict is Verdict.FAILED for r in semantic),
        errors=tuple(error for result in results for error in result.errors),
        rungs=tuple(results),
    )


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
    except (CompilerGymError, ValueError) as error:
        finding = ValidationError(
            "the actions cannot be replayed",
            {"error": type(error).__name__, "details": str(error)},
        )
        return _result(REPLAY, started, Finding.failed([finding])), None
    errors = replay_differences(state, replayed)
    versions = state.compiler_version, replayed.compiler_version
    if None not in versions and versions[0] != versions[1]:
        differs = "; ".join(map(str, errors)) or "the replay gives the same"
        finding = Finding.unknown(
            f"recorded with version {versions[0]} of the compiler, replayed with {versions[1]}: "
            f"{differs}"
        )
    elif errors:
        finding = Finding.failed(errors)
    elif state.has_reward and not _compared(state, replayed):
        finding = Finding.unknown("no reward to compare with: which space is the recorded one of?")
    else:
        finding = Finding.ok(_compared(state, replayed) or "nothing was recorded to compare with")
    return _result(REPLAY, started, finding), replayed


def _ask(rung: Rung, subject: Subject) -> RungResult:
    started = time.monotonic()
    try:
        finding = rung.check(subject)
    except (CompilerGymError, OSError) as error:
        finding = Finding.unknown(f"{type(error).__name__}: {error}")
    return _result(rung.name, started, finding)


def _result(name: str, started: float, finding: Finding) -> RungResult:
    seconds = time.monotonic() - started
    return RungResult(name, finding.verdict, seconds, finding.reason, finding.errors)


def _has_compared_rewards(state: CompilerEnvState, replayed: CompilerEnvState | None) -> bool:
    return replayed is not None and state.has_reward and replayed.has_reward


def _compared(state: CompilerEnvState, replayed: CompilerEnvState) -> str:
    compared = ["reward"] if _has_compared_rewards(state, replayed) else []
    compared += ["hash"] if state.state_hash and replayed.state_hash else []
    return f"same {' and '.join(compared)}" if compared else ""
