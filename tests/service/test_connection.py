# SPDX-License-Identifier: MIT
"""A connection is the same to its owner wherever its session runs."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from compiler_gym.errors import ServiceIsClosed
from compiler_gym.service import Connection, Limits, LocalConnection, WorkerConnection
from compiler_gym.service.caching import CachingConnection, TranspositionCache
from compiler_gym.service.messages import Failed, Parameter, ParameterReply, Started, Stepped
from service.workers import FAKE, start, step

KINDS: dict[str, Callable[[], Connection]] = {
    "in-process": partial(LocalConnection, FAKE),
    "process": partial(WorkerConnection.open, FAKE, Limits(step_seconds=60.0)),
    "cached process": lambda: cached("process"),
    "cached in-process": lambda: cached("in-process"),
}


def cached(kind: str) -> Connection:
    return CachingConnection(
        KINDS[kind], TranspositionCache(), key="number", steady=["number", "digits"], version="1"
    )


@pytest.fixture(params=list(KINDS))
def connection(request: pytest.FixtureRequest) -> Iterator[Connection]:
    """Give one without an episode."""
    made = KINDS[request.param]()
    yield made
    made.close()


def number(connection: Connection) -> int:
    reply = connection.call(step(observe=("number",)))
    assert isinstance(reply, Stepped)
    return reply.observations[0]


def test_a_start_and_steps_are_answered(connection: Connection) -> None:
    started = connection.call(start(observe=("number", "digits")))
    assert isinstance(started, Started)
    assert (started.action_space, started.observations) == (None, [7, "7"])
    reply = connection.call(step("add", "double", observe=("number", "vector")))
    assert isinstance(reply, Stepped)
    assert (reply.observations, reply.applied, reply.end) == ([16, [16, 256, 1]], 2, False)
    assert (reply.no_effect, reply.failure, reply.action_space) == (False, None, None)
    again = connection.call(step("nothing"))
    assert isinstance(again, Stepped)
    assert again.no_effect


def test_a_new_start_forgets_the_last_episode(connection: Connection) -> None:
    connection.call(start())
    connection.call(step("add"))
    connection.call(start(b"3"))
    assert number(connection) == 3


def test_a_step_without_an_episode_is_refused_and_one_may_begin(connection: Connection) -> None:
    reply = connection.call(step("add"))
    assert isinstance(reply, Failed)
    assert (reply.kind, reply.recoverable) == ("SessionNotFound", True)
    connection.call(start())
    assert number(connection) == 7


def test_a_parameter_is_answered_or_unknown(connection: Connection) -> None:
    connection.call(start())
    for key, value in (("fake.add", "10"), ("fake.unknown", None)):
        reply = connection.call(Parameter(key, "3"))
        assert isinstance(reply, ParameterReply)
        assert reply.value == value
    assert number(connection) == 10


def test_a_failure_reports_the_number_of_applied_actions(connection: Connection) -> None:
    connection.call(start())
    reply = connection.call(step("add", "add", "raise", "add"))
    assert isinstance(reply, Failed)
    assert (reply.kind, reply.applied, reply.recoverable) == ("SessionError", 2, False)
    assert "ZeroDivisionError" in reply.message


def test_a_failed_observation_keeps_the_applied_actions(connection: Connection) -> None:
    connection.call(start())
    reply = connection.call(step("negate", observe=("number", "unavailable")))
    assert isinstance(reply, Stepped)
    assert reply.failure is not None
    assert reply.failure[0] == "ObservationError"
    assert number(connection) == -7


def test_a_request_in_two_halves_is_one(connection: Connection) -> None:
    connection.call(start())
    for later in (False, True):
        connection.submit(step("add"), later=later)
        while not connection.advance():
            pass
        reply = connection.gather()
        assert isinstance(reply, Stepped)
        assert reply.applied == 1
    assert number(connection) == 9


def test_a_fork_is_exact_and_apart_or_none(connection: Connection) -> None:
    connection.call(start())
    connection.call(step("add"))
    fork = connection.fork()
    if fork is None:
        assert isinstance(connection, LocalConnection)
        return
    try:
        assert number(fork) == 8
        connection.call(step("add"))
        assert (number(fork), number(connection)) == (8, 9)
        connection.close()
        assert number(fork) == 8
    finally:
        fork.close()


@pytest.mark.parametrize("end", ["close", "abandon"])
def test_a_closed_connection_answers_nothing_and_may_be_closed_again(
    connection: Connection, end: str
) -> None:
    connection.call(start())
    assert connection.is_open
    for _ in range(2):
        getattr(connection, end)()
        assert not connection.is_open
    for request in (start(), step("add"), Parameter("fake.echo", "x")):
        with pytest.raises(ServiceIsClosed, match=r"closed: call reset\(\)"):
            connection.call(request)
    assert connection.channel is None
    assert connection.fileno() is None
