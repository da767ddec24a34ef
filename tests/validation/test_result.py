# SPDX-License-Identifier: MIT
"""Records of results, and errors that mean a machine in trouble."""

import errno
import json
import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn

import pytest

import compiler_gym
from compiler_gym.core import CompilerEnv, CompilerEnvState
from compiler_gym.errors import (
    BenchmarkInitError,
    CompilerDiagnosticError,
    CompilerFatalError,
    InvalidIrError,
    ServiceInitError,
    ServiceOSError,
    WorkerCrashedError,
    WorkerOutOfMemoryError,
    WorkerTimeoutError,
)
from compiler_gym.service import Limits
from compiler_gym.testing import FakeEnv
from compiler_gym.validation import (
    ValidationError,
    ValidationResult,
    Verdict,
    climb,
    machine_trouble,
    validate_states,
)

from .conftest import FINE, WRONG, make_env


def test_results_of_one_state_are_joined(state: CompilerEnvState) -> None:
    results = [climb(state, make_env, [rung]) for rung in (FINE, WRONG)]
    joined = ValidationResult.join(results)
    assert len(joined.rungs) == 4
    assert not joined.okay()


def test_results_of_several_states_are_not_joined(state: CompilerEnvState) -> None:
    other = replace(state, benchmark="benchmark://fake-v0/other")
    with pytest.raises(ValueError, match="different states"):
        ValidationResult.join([ValidationResult(state, 1.0), ValidationResult(other, 1.0)])
    with pytest.raises(ValueError, match="no results to join"):
        ValidationResult.join([])


def test_results_are_equal_if_they_say_the_same(state: CompilerEnvState) -> None:
    errors = (ValidationError("a", {"at": 1}), ValidationError("b"))
    one = ValidationResult(state, 1.0, errors=errors)
    assert one == ValidationResult(state, 9.0, errors=errors[::-1])
    assert one != ValidationResult(state, 1.0, errors=errors[:1])
    assert one != ValidationResult(state, 1.0, reward_validated=True, errors=errors)
    assert len({one, ValidationResult(state, 9.0, errors=errors)}) == 1
    assert json.loads(one.json())["errors"][0] == {"type": "a", "data": {"at": 1}}
    assert str(one) == f"{state.benchmark.removeprefix('benchmark://')}: a, at=1; b"
    with pytest.raises(ValueError, match=r"walltime must be at least 0"):
        ValidationResult(state, -1.0)


def test_a_result_says_in_a_line_what_is_known(state: CompilerEnvState) -> None:
    fine, wrong = (climb(state, make_env, [rung]) for rung in (FINE, WRONG))
    assert str(fine) == "fake-v0/7: okay, reward -1.0000"
    assert str(wrong) == "fake-v0/7: broken, at=1"
    document = json.loads(wrong.json())
    assert document["okay"] is False
    assert [rung["verdict"] for rung in document["rungs"]] == ["ok", "failed"]


def test_impossible_results_are_refused(state: CompilerEnvState) -> None:
    for walltime in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="must be at least 0"):
            ValidationResult(state, walltime)
    with pytest.raises(ValueError, match="no results to join"):
        ValidationResult.join([])


def caused_by(error: Exception) -> BenchmarkInitError:
    try:
        raise BenchmarkInitError("cannot start on benchmark://a-v0/b") from error
    except BenchmarkInitError as raised:
        return raised


TROUBLE = [
    OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN)),
    ServiceOSError("cannot fork"),
    ServiceInitError("no worker"),
    WorkerTimeoutError("no answer", seconds=0.001),
    WorkerOutOfMemoryError("too much", limit_bytes=1),
    WorkerCrashedError("killed", signal=signal.SIGKILL),
    MemoryError(),
    caused_by(WorkerTimeoutError("no answer", seconds=0.001)),
    caused_by(subprocess.TimeoutExpired(["clang"], 1.0)),
    CompilerDiagnosticError("as: src.s: No space left on device"),
]
FAULTS = [
    InvalidIrError("broken"),
    CompilerFatalError("crashed"),
    CompilerDiagnosticError("error: expected expression"),
    WorkerCrashedError("crashed", signal=signal.SIGSEGV),
    caused_by(CompilerDiagnosticError("error: expected expression")),
    BenchmarkInitError("no such program"),
]


@pytest.fixture
def state() -> CompilerEnvState:
    with make_own_env() as env:
        env.reset()
        env.step(0)
        return env.state


def make_own_env() -> FakeEnv:
    return FakeEnv(isolation="in-process", reward_space="number")


def failing(error: Exception, *, at: str) -> Callable[[], CompilerEnv]:
    def fail(*args: object, **kwargs: object) -> NoReturn:
        raise error

    def made() -> FakeEnv:
        env = make_own_env()
        setattr(env, at, fail)
        return env

    return made


@pytest.mark.parametrize("error", TROUBLE, ids=repr)
@pytest.mark.parametrize("at", ["reset", "multistep"])
def test_trouble_of_the_machine_is_unknown(
    state: CompilerEnvState, error: Exception, at: str
) -> None:
    result = climb(state, failing(error, at=at))
    assert result.okay()
    assert not result.actions_replay_failed
    (replay,) = result.rungs
    assert replay.verdict is Verdict.UNKNOWN
    assert replay.reason.startswith("not replayed: ")
    assert "unknown" in str(result)


@pytest.mark.parametrize("error", FAULTS, ids=repr)
def test_an_error_of_the_compiler_is_a_failure(state: CompilerEnvState, error: Exception) -> None:
    assert not machine_trouble(error)
    result = climb(state, failing(error, at="reset"))
    assert result.actions_replay_failed
    assert not result.okay()


@pytest.mark.parametrize("error", TROUBLE, ids=repr)
def test_an_environment_that_cannot_be_made_is_unknown(
    state: CompilerEnvState, error: Exception
) -> None:
    def refuse() -> NoReturn:
        raise error

    (result,) = validate_states(refuse, [state], nproc=1)
    assert result.okay()
    assert [rung.verdict for rung in result.rungs] == [Verdict.UNKNOWN]


def test_a_tiny_step_limit_of_a_real_compiler_is_unknown() -> None:
    def make_llvm(seconds: float = 300.0) -> CompilerEnv:
        return compiler_gym.make(
            "llvm-v0", benchmark="cbench-v1/ghostscript", limits=Limits(step_seconds=seconds)
        )

    with make_llvm() as env:
        env.reset()
        env.step(env.action_space["mem2reg"])  # type: ignore[index]
        recorded = env.state
    result = climb(recorded, lambda: make_llvm(0.001))
    assert result.okay(), result
    assert result.rungs[0].verdict is Verdict.UNKNOWN
    assert "TimeoutError: " in result.rungs[0].reason  # at the start already, or in the step
