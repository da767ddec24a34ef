# SPDX-License-Identifier: MIT
import pytest

from compiler_gym.errors import WorkerCrashedError
from compiler_gym.profiling.timed_connection import TimedConnection
from compiler_gym.service.messages import Step, Stepped
from compiler_gym.testing import FakeEnv


def test_requests_are_noted_with_what_the_worker_says_it_took() -> None:
    with FakeEnv(benchmark="fake-v0/5") as env:
        env.reset()
        inner = env.episode.connection
        assert inner is not None
        timed = TimedConnection(inner)
        assert isinstance(timed.call(Step([0], ["number"])), Stepped)
        (request,) = timed.requests
        assert request.served is not None
        assert 0 < request.served <= request.ended - request.began
        assert (timed.is_open, timed.apply) == (True, None)
        assert timed.channel is inner.channel


def test_a_request_that_fails_is_noted_too() -> None:
    with FakeEnv(benchmark="fake-v0/5", action_space="Behaviours") as env:
        env.reset()
        assert env.episode.connection is not None
        timed = TimedConnection(env.episode.connection)
        with pytest.raises(WorkerCrashedError, match="SIGSEGV"):
            timed.call(Step([env.action_space["segfault"]], []))
        assert timed.requests[0].served is None
        assert not timed.is_open


def test_in_this_process_an_action_needs_no_request() -> None:
    with FakeEnv(benchmark="fake-v0/5", isolation="in-process") as env:
        env.reset()
        assert env.episode.connection is not None
        timed = TimedConnection(env.episode.connection)
        assert timed.apply is not None
        assert timed.apply(0) is False
        assert len(timed.requests) == 1
