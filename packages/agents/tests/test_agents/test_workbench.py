# SPDX-License-Identifier: MIT
"""A workbench goes back to earlier steps, and stands where it stood when its worker is lost."""

import os
import signal
from collections.abc import Iterator

import pytest

from compiler_gym.errors import InvalidParameterError, ServiceError, SessionNotFound
from compiler_gym.testing import FakeEnv
from compiler_gym_agents.workbench import Workbench


@pytest.fixture(params=["replays", "forks"])
def bench(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    if request.param == "forks":
        monkeypatch.setattr("compiler_gym_agents.workbench._WORTH_KEEPING", -1.0)
    bench = Workbench(FakeEnv(reward_space="number", action_space="Behaviours"))
    try:
        yield bench
    finally:
        bench.close()


def act(bench: Workbench, *names: str) -> bool:
    """Make a step; return whether it failed."""
    space = bench.env.action_space
    return "error" in bench.apply([space[name] for name in names])[4]


def test_steps_are_taken_back_together(bench: Workbench) -> None:
    with pytest.raises(SessionNotFound, match="call reset"):
        bench.look("number")
    bench.start()
    assert not act(bench, "double", "add")
    assert not act(bench, "double")
    assert (bench.look("number"), bench.step_count) == (30, 2)
    assert bench.env.episode_reward == -23
    assert [bench.look_back(step, "number") for step in (0, 1, 2)] == [7, 15, 30]
    bench.undo(1)
    assert (bench.look("number"), bench.env.episode_reward) == (15, -8)
    assert not act(bench, "add")
    assert [bench.look_back(step, "number") for step in (0, 1, 2)] == [7, 15, 16]
    bench.undo(2)
    assert bench.look("number") == 7
    with pytest.raises(InvalidParameterError, match="no step to undo"):
        bench.undo(1)
    bench.start("benchmark://fake-v0/3")
    assert (bench.look("number"), bench.step_count) == (3, 0)


@pytest.mark.parametrize("failure", ["segfault", "fatal"])
def test_a_step_that_fails_is_taken_back(bench: Workbench, failure: str) -> None:
    bench.start()
    act(bench, "double")
    assert act(bench, "add", failure)
    assert (bench.look("number"), bench.step_count) == (14, 1)
    assert not act(bench, "add")
    assert bench.look("number") == 15


def test_a_worker_that_is_lost_is_replaced(bench: Workbench) -> None:
    bench.start()
    act(bench, "double")
    os.kill(bench.look("process"), signal.SIGKILL)
    with pytest.raises(ServiceError):
        bench.look("number")
    assert bench.look("number") == 14
    os.kill(bench.look("process"), signal.SIGKILL)
    assert act(bench, "double")
    assert bench.look("number") == 14


def test_a_closed_workbench_stays_closed(bench: Workbench) -> None:
    bench.start()
    act(bench, "double")
    bench.close()
    for again in (bench.start, bench.fork, lambda: bench.undo(1), lambda: act(bench, "double")):
        with pytest.raises(SessionNotFound, match="session is closed"):
            again()
    assert bench.env.service is None


def test_a_fork_is_the_callers_own(bench: Workbench) -> None:
    bench.start()
    with bench.fork() as twin:
        twin.multistep([twin.action_space["double"]])
        assert twin.observation["number"] == 14
    assert bench.look("number") == 7
