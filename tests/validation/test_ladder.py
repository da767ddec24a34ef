# SPDX-License-Identifier: MIT
"""Rungs report by themselves; what cannot be told is no failure."""

import json
import pickle
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from compiler_gym.core import CompilerEnvState
from compiler_gym.datasets import Benchmark
from compiler_gym.errors import BenchmarkInitError, CompilerGymWarning, UnknownNameError
from compiler_gym.testing import FakeEnv
from compiler_gym.validation import (
    Finding,
    Rung,
    Subject,
    ValidationError,
    ValidationResult,
    Verdict,
    choose_rungs,
    climb,
)

from .conftest import FINE, WRONG, make_env


def unknown(subject: Subject) -> Finding:
    raise BenchmarkInitError("no compiler here")


UNKNOWN = Rung("unknown", "?", unknown)
ABSENT = Rung("absent", "?", unknown, applies=lambda subject: False)


def test_each_rung_reports_by_itself_with_its_cost(state: CompilerEnvState) -> None:
    result = climb(state, make_env, [FINE, UNKNOWN, ABSENT])
    assert [(rung.name, rung.verdict) for rung in result.rungs] == [
        ("replay", Verdict.OK), ("fine", Verdict.OK), ("unknown", Verdict.UNKNOWN),
    ]  # fmt: skip
    assert all(rung.seconds >= 0 for rung in result.rungs)
    assert result.okay()
    assert result.reward_validated
    assert result.benchmark_semantics_validated
    found = result.rung("unknown")
    assert found is not None
    assert found.reason == "BenchmarkInitError: no compiler here"


def test_a_failed_rung_fails_the_state(state: CompilerEnvState) -> None:
    result = climb(state, make_env, [FINE, WRONG])
    assert not result.okay()
    assert result.benchmark_semantics_validation_failed
    assert result.error_details == "broken, at=1"
    assert result.to_json()["rungs"][2]["verdict"] == "failed"


def test_another_reward_is_found(state: CompilerEnvState) -> None:
    result = climb(replace(state, reward=-2.5), make_env, [FINE])
    assert result.reward_validation_failed
    assert "the replay earns a different reward, reward=-2.5" in result.error_details
    assert result.rung("fine") is not None


def test_a_reward_of_another_space_is_not_compared(state: CompilerEnvState) -> None:
    assert climb(replace(state, reward=-1.0, reward_space="elsewhere"), make_env).okay()


@pytest.mark.parametrize(
    "wrong", [{"benchmark": "benchmark://fake-v0/none"}, {"action_space": "Nope"}]
)
def test_a_state_that_cannot_be_replayed_stops_the_climb(
    state: CompilerEnvState, wrong: dict[str, str]
) -> None:
    result = climb(replace(state, **wrong), make_env, [FINE])
    assert result.actions_replay_failed
    assert not result.okay()
    assert [rung.name for rung in result.rungs] == ["replay"]


def test_another_compiler_is_reported_and_not_a_failure(state: CompilerEnvState) -> None:
    result = climb(replace(state, compiler_version="fake 0", reward=-1.0), make_env)
    assert result.okay()
    (replay,) = result.rungs
    assert replay.verdict is Verdict.UNKNOWN
    assert replay.reason.startswith("recorded with compiler version fake 0, replayed with")


def test_rungs_are_chosen_by_name() -> None:
    assert choose_rungs([FINE, WRONG], ["wrong", "replay"]) == [WRONG]
    assert choose_rungs([FINE, WRONG], None) == [FINE, WRONG]
    with pytest.raises(UnknownNameError, match="no rung 'nope'; there are replay, fine, callbacks"):
        choose_rungs([FINE], ["nope"])


class CheckedEnv(FakeEnv):
    def validate(self, state: CompilerEnvState | None = None) -> ValidationResult:
        return climb(self.state if state is None else state, self._twin)


def only_seven(env: Any) -> list[ValidationError]:
    found = env.observation["number"]
    return [ValidationError("not seven", {"number": found})] if found != 7 else []


def nothing(env: Any) -> None:
    return None


def a_word(env: Any) -> str:
    return "never right"


def a_number(env: Any) -> Any:
    return 3


def an_assertion(env: Any) -> None:
    assert env.observation["number"] == 7, "it moved"


def no_machine(env: Any) -> None:
    raise OSError("no space left")


@pytest.mark.parametrize(
    ("callback", "verdict", "says"),
    [
        (nothing, Verdict.OK, ""),
        (only_seven, Verdict.FAILED, "not seven, number="),
        (a_word, Verdict.FAILED, "never right"),
        (an_assertion, Verdict.FAILED, "details='it moved"),
        (no_machine, Verdict.UNKNOWN, "OSError: no space left"),
        (a_number, Verdict.UNKNOWN, "return a list of errors"),
    ],
)
@pytest.mark.parametrize("moved", ["itself", "fork", "pickle"])
def test_a_validation_asks_the_callbacks_of_the_program(
    moved: str, callback: Any, verdict: Verdict, says: str
) -> None:
    with CheckedEnv(isolation="in-process") as env:
        program = env.datasets.benchmark("fake-v0/7")
        program.add_validation_callback(callback)
        env.reset(benchmark=program)
        env.step(0)
        here = {"fork": env.fork, "pickle": lambda: pickle.loads(pickle.dumps(env))}
        with here.get(moved, lambda: env)() as at:
            result = at.validate()
    rung = result.rung("callbacks")
    assert rung is not None
    assert rung.verdict is verdict
    assert says in f"{rung.reason} {result.error_details}"
    assert result.okay() is (verdict is not Verdict.FAILED)
    assert result.benchmark_semantics_validation_failed is (verdict is Verdict.FAILED)
    assert result.benchmark_semantics_validated is (verdict is Verdict.OK)


def test_a_program_that_checks_itself_in_its_own_way_is_asked() -> None:
    class Doubted(Benchmark):
        def ivalidate(self, env: Any) -> Iterator[ValidationError]:
            yield ValidationError("never right")

    with CheckedEnv(isolation="in-process") as env:
        env.reset(benchmark=Doubted("benchmark://fake-v0/7", b"7"))
        result = env.validate()
    assert "never right" in result.error_details
    assert not result.okay()


def test_a_state_is_replayed_on_the_program_that_the_environment_was_given() -> None:
    with CheckedEnv(isolation="in-process") as env:
        program = env.datasets.benchmark("fake-v0/7")
        program.add_validation_callback(a_word)
        env.reset(benchmark=program)
        state = env.state
        with CheckedEnv(isolation="in-process") as other:
            other.benchmark = program
            assert not other.validate(state).okay()
        with CheckedEnv(isolation="in-process") as other:
            assert other.validate(state).okay()


def test_a_reward_that_nothing_is_compared_with_is_warned_of(state: CompilerEnvState) -> None:
    nameless = replace(state, reward_space=None)
    with pytest.warns(CompilerGymWarning, match="make it with make") as warned:
        result = climb(nameless, lambda: FakeEnv(isolation="in-process"))
    assert len(warned) == 1
    assert not result.reward_validated
    assert result.okay()


def test_a_result_is_made_of_what_its_json_holds(state: CompilerEnvState) -> None:
    for result in (climb(state, make_env, [FINE, UNKNOWN]), climb(state, make_env, [WRONG])):
        for fields in (json.loads(result.json()), result.dict()):
            back = ValidationResult(**fields)
            assert back == result
            assert back.state == state
            assert back.rungs == result.rungs
            assert back.okay() is result.okay()
