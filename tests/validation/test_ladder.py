# SPDX-License-Identifier: MIT
"""Rungs, replays, and many states at once."""

import json
import pickle
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from compiler_gym.core import CompilerEnvState
from compiler_gym.datasets import Benchmark
from compiler_gym.errors import BenchmarkInitError, CompilerGymWarning, UnknownNameError
from compiler_gym.spaces import Reward
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
    replay,
    replay_differences,
    validate_states,
)

from .conftest import FINE, WRONG, make_env

REACHED = CompilerEnvState(
    "benchmark://fake-v0/7", "add", reward=-1.0, reward_space="number", state_hash="8"
)


def played() -> CompilerEnvState:
    with FakeEnv(isolation="in-process", reward_space="number") as env:
        env.reset()
        env.multistep([0, 1])
        return env.state


def test_a_replay_earns_the_recorded_reward_in_its_own_space() -> None:
    state = played()
    with FakeEnv(isolation="in-process") as env:
        replayed = replay(env, state)
        assert env.reward_space is not None
    assert replayed.reward == state.reward == -9
    assert replay_differences(state, replayed) == []


def test_a_reward_of_no_known_space_leaves_the_environment_s_own() -> None:
    state = replace(played(), reward_space="Fame")
    with FakeEnv(isolation="in-process", reward_space="number") as env:
        assert replay(env, state).reward_space == "number"
    with (
        FakeEnv(isolation="in-process") as env,
        pytest.raises(UnknownNameError, match="no program 'x'"),
    ):
        replay(env, replace(state, benchmark="benchmark://fake-v0/x"))


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, []),
        ({"reward": -1.0 - 4e-7}, []),
        ({"reward": -1.0 - 6e-7}, ["the replay earns a different reward"]),
        ({"reward": None}, []),
        ({"reward": 5.0, "reward_space": "other"}, []),
        ({"reward": 5.0, "reward_space": None}, ["the replay earns a different reward"]),
        ({"state_hash": "9"}, ["the replay reaches a different program"]),
        ({"state_hash": None}, []),
        ({"compiler_version": "17"}, []),
        (
            {"reward": 2.0, "state_hash": "9"},
            ["the replay earns a different reward", "the replay reaches a different program"],
        ),
    ],
)
def test_a_difference_is_found(changes: dict[str, Any], found: list[str]) -> None:
    for pair in ((REACHED, replace(REACHED, **changes)), (replace(REACHED, **changes), REACHED)):
        assert [error.type for error in replay_differences(*pair)] == found


def test_large_rewards_are_compared_relatively() -> None:
    large = replace(REACHED, reward=1e12)
    assert replay_differences(large, replace(large, reward=1e12 + 10)) == []
    assert replay_differences(large, replace(large, reward=1e12 + 1e5)) != []


def test_a_reward_that_is_measured_is_not_compared() -> None:
    other = replace(REACHED, reward=-1.001)
    measured = Reward(name="number", observation_spaces=["number"], deterministic=False)
    sure = Reward(name="number", observation_spaces=["number"], deterministic=True)
    assert replay_differences(REACHED, other, {"number": measured}) == []
    assert replay_differences(REACHED, other, {"number": sure}) != []
    assert replay_differences(REACHED, other, {"another": measured}) != []


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


class Validating(FakeEnv):
    def validate(self, state: CompilerEnvState | None = None) -> ValidationResult:
        assert state is not None
        return climb(state, make_env)


def test_many_states_are_validated_and_come_in_order_if_asked(state: CompilerEnvState) -> None:
    states = [replace(state, walltime=float(i)) for i in range(7)]
    states[3] = replace(state, benchmark="benchmark://fake-v0/none")
    make = lambda: Validating(isolation="in-process", reward_space="number")  # noqa: E731 - one line
    results = list(validate_states(make, iter(states), nproc=2, inorder=True))
    assert [result.state.walltime for result in results if result.okay()] == [0, 1, 2, 4, 5, 6]
    assert len(list(validate_states(make, states))) == 7


def test_an_environment_without_a_validator_gives_unknown_results(
    state: CompilerEnvState,
) -> None:
    (result,) = validate_states(make_env, [state])
    assert "FakeEnv has no validator" in result.error_details


class Choosing(FakeEnv):
    def validate(
        self, state: CompilerEnvState | None = None, rungs: object = ()
    ) -> ValidationResult:
        assert state is not None
        return climb(state, make_env, choose_rungs([FINE], rungs))  # type: ignore[arg-type]


def test_checks_that_there_are_not_are_an_error_of_the_request(state: CompilerEnvState) -> None:
    choosing = lambda: Choosing(isolation="in-process", reward_space="number")  # noqa: E731 - one line
    (result,) = validate_states(choosing, [state], rungs=["fine"])
    assert [rung.name for rung in result.rungs] == ["replay", "fine"]
    with pytest.raises(UnknownNameError, match="no rung 'nope'"):
        list(validate_states(choosing, [state], rungs=["nope"]))


def test_all_checks_of_an_environment_with_one_are_that_one(state: CompilerEnvState) -> None:
    make = lambda: Validating(isolation="in-process", reward_space="number")  # noqa: E731 - one line
    (result,) = validate_states(make, [state], rungs=None)
    assert [rung.name for rung in result.rungs] == ["replay"]
    with pytest.raises(UnknownNameError, match="do not name any"):
        list(validate_states(make, [state], rungs=["replay"]))


def test_closing_early_stops(state: CompilerEnvState) -> None:
    asked: list[int] = []

    def states():  # type: ignore[no-untyped-def]  # a generator of states
        for i in range(1000):
            asked.append(i)
            yield state

    results = validate_states(make_env, states(), nproc=1)
    next(results)
    results.close()
    assert len(asked) < 10
