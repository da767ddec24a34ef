# SPDX-License-Identifier: MIT
"""Where sessions come from, and what the next one is bound by."""

import os
import resource
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from compiler_gym.core.sessions import Sessions
from compiler_gym.errors import EnvironmentNotSupported, InvalidParameterError
from compiler_gym.service import (
    Connection,
    Limits,
    LocalConnection,
    SessionSource,
    WorkerConnection,
)
from compiler_gym.service.caching import CachingConnection, TranspositionCache
from compiler_gym.testing import FakeEnv, worker_pid
from compiler_gym.testing.fakes import BEHAVIOURS

FAKE = SessionSource("compiler_gym.testing.fakes:FakeSession")
ACTIONS = {name: number for number, name in enumerate(BEHAVIOURS)}
Open = Callable[[Sessions], Connection]


@pytest.fixture
def opened() -> Iterator[Open]:
    connections: list[Connection] = []

    def open_one(sessions: Sessions) -> Connection:
        connections.append(sessions.open())
        return connections[-1]

    yield open_one
    for connection in connections:
        connection.close()


def test_each_session_is_new_and_in_the_requested_place(opened: Open) -> None:
    inside = Sessions(FAKE, "in-process", Limits())
    apart = Sessions(FAKE, "process", Limits())
    local, worker, other = opened(inside), opened(apart), opened(apart)
    assert isinstance(local, LocalConnection)
    assert isinstance(worker, WorkerConnection)
    assert isinstance(other, WorkerConnection)
    assert len({worker.pid, other.pid, os.getpid()}) == 3
    assert inside.description == apart.description


def test_an_unloadable_session_is_reported_when_it_is_described() -> None:
    source = SessionSource("compiler_gym.testing.fakes:FakeSession", (("refuse", "not here"),))
    for isolation in ("process", "in-process"):
        with pytest.raises(EnvironmentNotSupported, match="not here"):
            _ = Sessions(source, isolation, Limits()).description


def test_with_a_cache_a_session_is_opened_when_it_is_needed(opened: Open) -> None:
    with TranspositionCache() as cache:
        connection = opened(Sessions(FAKE, "process", Limits(), cache, "number"))
        assert isinstance(connection, CachingConnection)
        assert connection.session is None


def test_a_cache_needs_what_tells_states_apart() -> None:
    with (
        TranspositionCache() as cache,
        pytest.raises(InvalidParameterError, match="a cache needs the name of an observation"),
    ):
        Sessions(FAKE, "in-process", Limits(), cache).open()


def test_other_limits_do_not_change_the_sessions_they_were_made_from() -> None:
    sessions = Sessions(FAKE, "in-process", Limits(step_seconds=3.0))
    described = sessions.description
    others = replace(sessions, limits=Limits(step_seconds=4.0))
    assert (sessions.limits.step_seconds, others.limits.step_seconds) == (3.0, 4.0)
    assert others.description == described


def memory_of(env: FakeEnv) -> int:
    pid = worker_pid(env)
    assert pid is not None
    return resource.prlimit(pid, resource.RLIMIT_AS)[0]


def step_seconds_of(env: FakeEnv) -> float:
    connection = env.episode.connection
    assert isinstance(connection, WorkerConnection)
    return connection.limits.step_seconds


def test_limits_that_were_set_are_those_of_the_next_worker() -> None:
    with FakeEnv(action_space="Behaviours", limits=Limits(memory_bytes=8 << 30)) as env:
        env.reset()
        before = memory_of(env)
        with env.fork() as fork:
            env.limits = Limits(memory_bytes=9 << 30, step_seconds=60.0)
            assert env.limits.memory_bytes == 9 << 30
            assert fork.limits.memory_bytes == 8 << 30, "a fork does not share the change"
            assert memory_of(env) == memory_of(fork) == before
            env.step(ACTIONS["exit"])
            env.reset()
            assert memory_of(env) == before + (1 << 30)
            fork.step(ACTIONS["exit"])
            fork.reset()
            assert memory_of(fork) == before
        with env.fork() as later:
            assert later.limits == env.limits
            assert step_seconds_of(later) == step_seconds_of(env) == 60.0
