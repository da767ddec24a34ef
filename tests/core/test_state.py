# SPDX-License-Identifier: MIT
"""An episode is known by what replays it."""

import json
import pickle
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler_gym import CompilerEnvState
from core.test_state_files import STATES


def test_states_are_one_if_they_are_the_same_point_of_the_search() -> None:
    state = STATES[0]
    assert state == replace(state, walltime=9.0, version="2") == replace(state, reward=0.250004)
    assert len({state, replace(state, walltime=9.0)}) == 1
    for other in ({"reward": 0.2501}, {"commandline": ""}, {"benchmark": "a/b"}):
        assert state != replace(state, **other)
    assert state != 5
    assert CompilerEnvState(**json.loads(STATES[1].json())).dict() == STATES[1].dict()


def test_a_state_without_a_program_is_none() -> None:
    with pytest.raises(ValueError, match="needs a benchmark: its URI is empty"):
        CompilerEnvState(benchmark="")


@pytest.mark.parametrize(
    "fields", [{"benchmark": 3}, {"commandline": 3}, {"walltime": "x"}, {"reward": "0.5"}]
)
def test_a_field_of_another_kind_is_not_a_state(fields: dict[str, Any]) -> None:
    (name,) = fields
    state_of: Any = CompilerEnvState
    with pytest.raises(ValueError, match=f"{name} must be "):
        state_of(**{"benchmark": "a/b", **fields})


@pytest.mark.parametrize("walltime", [-1.0, float("nan"), float("-inf"), float("inf")])
def test_time_does_not_run_backwards(walltime: float) -> None:
    with pytest.raises(ValueError, match=r"walltime must be a finite number >= 0"):
        CompilerEnvState(benchmark="a/b", walltime=walltime)


def test_a_reward_was_recorded_or_not() -> None:
    assert CompilerEnvState("a/b", reward=0.0).has_reward
    assert not CompilerEnvState("a/b").has_reward


def test_an_infinite_reward_is_itself() -> None:
    infinite = CompilerEnvState("a/b", reward=float("inf"))
    assert infinite == CompilerEnvState("a/b", reward=float("inf"))
    assert infinite != CompilerEnvState("a/b", reward=float("-inf"))
    assert infinite != CompilerEnvState("a/b", reward=1.0)


@settings(deadline=None)
@given(st.sampled_from(STATES), st.sampled_from(["pickle", "json"]))
def test_a_state_that_was_sent_is_whole(state: CompilerEnvState, way: str) -> None:
    back = (
        pickle.loads(pickle.dumps(state))
        if way == "pickle"
        else CompilerEnvState(**json.loads(state.json()))
    )
    assert back.dict() == state.dict()
    assert hash(back) == hash(state)


def test_a_reward_counts_where_both_states_have_one() -> None:
    known, other = CompilerEnvState("a/b", reward=1.0), CompilerEnvState("a/b", reward=2.0)
    unknown = CompilerEnvState("a/b")
    assert known == unknown
    assert unknown == known
    assert hash(known) == hash(unknown)
    assert known != other
    assert unknown != CompilerEnvState("a/c")


def test_a_state_of_nothing_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="a state needs a benchmark"):
        CompilerEnvState()
