# SPDX-License-Identifier: MIT
"""Rungs report by themselves; what cannot be told is no failure."""

from dataclasses import replace

import pytest

from compiler_gym.core import CompilerEnvState
from compiler_gym.errors import BenchmarkInitError, UnknownNameError
from compiler_gym.validation import (
    Finding,
    Rung,
    Subject,
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
    assert "the replay earns another reward, reward=-2.5" in result.error_details
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


def test_another_compiler_is_said_and_is_no_failure(state: CompilerEnvState) -> None:
    result = climb(replace(state, compiler_version="fake 0", reward=-1.0), make_env)
    assert result.okay()
    (replay,) = result.rungs
    assert replay.verdict is Verdict.UNKNOWN
    assert replay.reason.startswith("recorded with version fake 0 of the compiler, replayed with")


def test_rungs_are_chosen_by_name() -> None:
    assert choose_rungs([FINE, WRONG], ["wrong", "replay"]) == [WRONG]
    assert choose_rungs([FINE, WRONG], None) == [FINE, WRONG]
    with pytest.raises(UnknownNameError, match="no rung 'nope'; there are replay, fine"):
        choose_rungs([FINE], ["nope"])
