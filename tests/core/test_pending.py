# SPDX-License-Identifier: MIT
"""What was begun is driven in one way, whoever does it and wherever it runs."""

import os
import select
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from compiler_gym.core import Pending
from compiler_gym.errors import (
    BenchmarkInitError,
    EnvironmentNotSupported,
    ServiceIsClosed,
    SessionNotFound,
)
from compiler_gym.service import WorkerConnection, exchange, finish
from compiler_gym.service.caching import TranspositionCache
from compiler_gym.testing import FakeEnv, is_running, wait_until, worker_pid
from compiler_gym.testing.fakes import BEHAVIOURS
from compiler_gym.vector.rows import DirectRow, Rows, VectorRow
from compiler_gym.wrappers import Counter

ACTIONS = {name: number for number, name in enumerate(BEHAVIOURS)}
KINDS = ("process", "in-process", "cached", "known", "thread")
Begin = Callable[[VectorRow], Pending[Any]]


def fake(**arguments: Any) -> FakeEnv:
    chosen: dict[str, Any] = {
        "observation_space": "number",
        "reward_space": "number",
        "action_space": "Behaviours",
        "benchmark": "benchmark://fake-v0/7",
    }
    return FakeEnv(**{**chosen, **arguments})


@pytest.fixture(params=KINDS)
def row(request: pytest.FixtureRequest) -> Iterator[VectorRow]:
    """Give a row in an episode: in a process, here, with a cache, or driven by a thread."""
    cache = TranspositionCache() if request.param in ("cached", "known") else None
    isolation = "in-process" if request.param == "in-process" else "process"
    env: Any = fake(isolation=isolation, cache=cache)
    if request.param == "known":  # all that is asked for below is known
        env.reset()
        env.step(0)
    env.reset()
    rows = Rows([Counter(env) if request.param == "thread" else env])
    yield rows[0]
    rows.close()
    if cache is not None:
        cache.close()


def begin_step(row: VectorRow) -> Pending[Any]:
    return row.begin_step(0)


def begin_reset(row: VectorRow) -> Pending[Any]:
    return row.begin_reset(None, None)


def alone(pending: Pending[Any]) -> None:
    """Leave everything to `result`."""


def sent(pending: Pending[Any]) -> None:
    pending.send()


def exchanged(pending: Pending[Any]) -> None:
    pending.send(later=True)
    exchange([channel for channel in [pending.channel] if channel is not None])
    finish([pending])


def polled(pending: Pending[Any]) -> None:
    pending.send()
    while (number := pending.fileno()) is not None:
        assert select.select([number], [], [], 30.0)[0]
        if pending.advance():
            break
    assert pending.advance()


def advanced(pending: Pending[Any]) -> None:
    pending.send(later=True)
    while not pending.advance():
        pass


WAYS = pytest.mark.parametrize("drive", [alone, sent, exchanged, polled, advanced])


@WAYS
def test_a_step_is_the_same_however_it_is_driven(
    row: VectorRow, drive: Callable[[Pending[Any]], None]
) -> None:
    pending = row.begin_step(0)
    drive(pending)
    number, reward, terminated, truncated, info = pending.result()
    assert (number, reward, terminated, truncated) == (8, -1.0, False, False)
    assert info["action_had_no_effect"] is False
    assert row.env.unwrapped.actions == [0]


@WAYS
def test_a_reset_is_the_same_however_it_is_driven(
    row: VectorRow, drive: Callable[[Pending[Any]], None]
) -> None:
    pending = row.begin_reset(3, {"benchmark": "benchmark://fake-v0/9"})
    drive(pending)
    number, info = pending.result()
    assert (number, info) == (9, {"benchmark": "benchmark://fake-v0/9"})
    assert row.env.unwrapped.actions == []
    assert row.env.step(0)[0] == 10


@WAYS
def test_an_error_of_a_worker_is_a_result(
    row: VectorRow, drive: Callable[[Pending[Any]], None]
) -> None:
    pending = row.begin_step(ACTIONS["raise"])
    drive(pending)
    number, reward, terminated, truncated, info = pending.result()
    assert (number, reward, terminated, truncated) == (0, 0.0, False, True)
    assert info["error_type"] == "SessionError"
    assert not row.env.unwrapped.in_episode


@WAYS
@pytest.mark.parametrize("cached", [False, True])
def test_a_worker_that_was_lost_is_a_result(
    drive: Callable[[Pending[Any]], None], cached: bool
) -> None:
    with TranspositionCache() as cache, fake(cache=cache if cached else None) as env:
        env.reset()
        connection: Any = env.episode.connection
        worker = connection.session.pid if cached else connection.pid
        os.kill(worker, signal.SIGKILL)
        assert wait_until(lambda: not is_running(worker))
        pending = env.episode.begin([0])
        drive(pending)
        *_, truncated, info = pending.result()
        assert truncated
        assert info["error_type"] == "WorkerCrashedError"
        assert env.actions == [0]
        assert env.reset()[0] == 7


@WAYS
def test_a_reset_replaces_a_worker_that_was_lost(drive: Callable[[Pending[Any]], None]) -> None:
    with fake() as env:
        env.reset()
        worker = worker_pid(env)
        assert worker is not None
        os.kill(worker, signal.SIGKILL)
        assert wait_until(lambda: not is_running(worker))
        pending = DirectRow(env).begin_reset(None, None)
        drive(pending)
        assert pending.result()[0] == 7
        assert worker_pid(env) not in (worker, None)


def test_a_worker_killed_in_mid_step_is_a_result() -> None:
    with fake() as env:
        env.reset()
        worker = worker_pid(env)
        assert worker is not None
        pending = env.episode.begin([ACTIONS["hang"]])
        pending.send()
        os.kill(worker, signal.SIGKILL)
        *_, truncated, info = pending.result()
        assert (truncated, info["error_type"]) == (True, "WorkerCrashedError")


def test_a_new_worker_that_is_lost_too_is_not_replaced() -> None:
    with (
        fake() as env,
        pytest.raises(BenchmarkInitError, match=r"cannot start on .*/7\?start=exit"),
    ):
        env.reset(benchmark="benchmark://fake-v0/7?start=exit")


def test_a_start_that_takes_too_long_is_not_tried_twice() -> None:
    with fake() as env:
        env.reset()
        with pytest.raises(BenchmarkInitError, match=r"cannot start on .* 0\.2 s"):
            env.reset(benchmark="benchmark://fake-v0/7?start=hang", timeout=0.2)


def test_a_start_that_the_session_refuses_leaves_no_episode() -> None:
    with fake() as env:
        env.reset()
        for program in ("7?start=raise", "7?start=fatal"):
            with pytest.raises(BenchmarkInitError, match="cannot start on"):
                env.reset(benchmark=f"benchmark://fake-v0/{program}")
            with pytest.raises(SessionNotFound, match="no episode is running"):
                env.step(0)
        assert env.reset()[0] == 7


def test_where_no_session_can_be_opened_sending_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise EnvironmentNotSupported("no worker today")

    with fake() as env:
        monkeypatch.setattr(WorkerConnection, "open", refused)
        program = {"benchmark": "benchmark://fake-v0/3"}
        begun = [DirectRow(env).begin_reset(None, program) for _ in range(2)]
        for act in (begun[0].send, begun[1].result):
            with pytest.raises(EnvironmentNotSupported, match="no worker today"):
                act()
        monkeypatch.undo()
        assert env.reset(options=program)[0] == 3


@pytest.mark.parametrize("begin", [begin_step, begin_reset])
def test_a_call_started_before_a_close_reports_the_close(begin: Begin) -> None:
    with fake() as env:
        env.reset()
        pending = begin(DirectRow(env))
        pending.send()
        env.close()
        with pytest.raises(ServiceIsClosed, match="closed"):
            pending.result()
        assert env.reset()[0] == 7


def test_an_abandoned_step_ends_its_session_and_no_other() -> None:
    with fake() as env:
        env.reset()
        with env.fork() as fork:
            worker = worker_pid(env)
            pending = env.episode.begin([ACTIONS["hang"]])
            pending.send()
            pending.abandon()
            assert worker is not None
            assert wait_until(lambda: not is_running(worker))
            *_, truncated, info = pending.result()
            assert (truncated, info["error_type"]) == (True, "ServiceIsClosed")
            assert fork.step(0)[0] == 8
        assert env.reset()[0] == 7


def test_a_step_that_was_begun_is_in_the_history_before_it_is_sent() -> None:
    with fake() as env:
        env.reset()
        pending = env.episode.begin([0, 1])
        assert env.actions == [0, 1]
        assert pending.result()[0] == 16


def test_a_second_request_before_the_first_was_answered_ends_the_session() -> None:
    with fake() as env:
        env.reset()
        first = env.episode.begin([0])
        first.send()
        *_, truncated, info = env.step(0)
        assert (truncated, info["error_type"]) == (True, "ServiceIsClosed")
        assert "interrupted" in info["error_details"]
        assert env.reset()[0] == 7


def test_an_exception_in_a_thread_is_raised_by_its_result() -> None:
    env = fake()
    rows = Rows([Counter(env)])
    try:
        pending = rows[0].begin_step(0)
        pending.send()
        assert (pending.channel, pending.fileno(), pending.advance()) == (None, None, True)
        with pytest.raises(SessionNotFound, match="no episode is running"):
            pending.result()
    finally:
        rows.close()
