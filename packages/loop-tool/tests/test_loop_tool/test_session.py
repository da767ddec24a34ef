# SPDX-License-Identifier: MIT
"""The session by itself: what it is told and what it refuses."""

import json
from pathlib import Path

import pytest

from compiler_gym.errors import (
    BenchmarkInitError,
    InvalidActionError,
    InvalidParameterError,
    UnknownNameError,
)
from compiler_gym.session import BenchmarkSpec
from compiler_gym_loop_tool.actions import ACTION_SPACES
from compiler_gym_loop_tool.session import LoopToolSession
from compiler_gym_loop_tool.state.descriptions import describe


def session(text: str, space: int = 0) -> LoopToolSession:
    program = BenchmarkSpec("benchmark://own-v0/1", text.encode())
    return LoopToolSession(Path("unused"), ACTION_SPACES[space], program)


def test_an_action_without_meaning_reports_it() -> None:
    one = session("splits 3\n" + describe("add", "a=16"))
    assert one.apply_action(1) == (False, None, True)  # the outermost loop cannot grow
    assert one.apply_action(0) == (False, None, False)
    assert one.apply_action(1) == (False, None, False)
    assert one.get_observation("action_state") == [1, 1, 0]


@pytest.mark.parametrize("action", [-1, 4, "up", 1.0, True])
def test_an_invalid_action_is_refused(action: object) -> None:
    one = session(describe("add", "a=16"))
    with pytest.raises(InvalidActionError, match=r"is not in \[0, 4\)"):
        one.apply_action(action)


def test_a_program_with_too_many_loops_is_refused() -> None:
    with pytest.raises(BenchmarkInitError, match="has 56 loops; at most 32"):
        session("splits 8\n" + describe("conv2d", ""))


def test_parameters() -> None:
    one = session(describe("matmul", "m=4,n=4,k=4"))
    assert one.handle_session_parameter("timing.seconds", "0.5") == "0.5"
    assert one.handle_session_parameter("timing.seconds", "") == "0.5"
    assert one.handle_session_parameter("timing.last", "") == ""
    for way in ("compiled", "interpreted"):
        reply = one.handle_session_parameter(f"check.{way}", "7")
        assert json.loads(reply or "") == {"wrong": []}
    assert one.handle_session_parameter("no.such", "1") is None
    for key, value in (("timing.seconds", "0"), ("timing.seconds", "x"), ("check.compiled", "-1")):
        with pytest.raises(InvalidParameterError, match="must be"):
            one.handle_session_parameter(key, value)


def test_a_large_program_is_not_interpreted() -> None:
    one = session(describe("matmul", ""))
    reply = json.loads(one.handle_session_parameter("check.interpreted", "1") or "")
    assert "more than 200000 points" in reply["unknown"]


def test_an_unknown_observation_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="no observation space 'colour'"):
        session(describe("add", "a=4")).get_observation("colour")
