# SPDX-License-Identifier: MIT
"""The first action on which two machines disagree is found from their traces."""

from dataclasses import replace

import pytest

from compiler_gym.core import CompilerEnvState
from compiler_gym.errors import StateFileError
from compiler_gym.testing import FakeEnv
from compiler_gym.validation import Trace, first_disagreement, trace

TRACE = Trace("benchmark://a/b", "Passes", "22", ("x", "y", "z"), ("0", "1", "2", "3"))


@pytest.mark.parametrize("number", range(4))
def test_the_first_difference_is_found(number: int) -> None:
    hashes = [*TRACE.hashes]
    hashes[number] = "other"
    assert first_disagreement(TRACE, replace(TRACE, hashes=tuple(hashes))) == number


def test_equal_traces_agree() -> None:
    assert first_disagreement(TRACE, TRACE) is None


def test_a_compiler_that_failed_disagrees_where_it_failed() -> None:
    assert first_disagreement(TRACE, replace(TRACE, hashes=TRACE.hashes[:2], error="crash")) == 2


def test_traces_of_other_episodes_are_refused() -> None:
    with pytest.raises(StateFileError, match="of different episodes"):
        first_disagreement(TRACE, replace(TRACE, actions=("x",)))


def test_a_trace_goes_through_a_line() -> None:
    assert Trace.from_line(TRACE.to_line()) == TRACE
    for line in ("", "{}", "[1]", '{"benchmark": 1, "actions": 3}'):
        with pytest.raises(StateFileError, match="not a trace"):
            Trace.from_line(line)


def test_an_episode_is_traced_step_by_step() -> None:
    with FakeEnv(isolation="in-process") as env:
        found = trace(env, CompilerEnvState("benchmark://fake-v0/7", "add add"))
    assert found.actions == ("add", "add")
    assert (len(found.hashes), found.error) == (3, "")
