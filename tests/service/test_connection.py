# SPDX-License-Identifier: MIT
"""A connection behaves alike wherever its session runs, and leaves no files behind."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import pytest

from compiler_gym.errors import EnvironmentNotSupported, ServiceIsClosed
from compiler_gym.service import (
    Connection,
    Limits,
    LocalConnection,
    SessionSource,
    WorkerConnection,
)
from compiler_gym.service.caching import CachingConnection, TranspositionCache
from compiler_gym.service.messages import Failed, Parameter, ParameterReply, Started, Stepped
from compiler_gym.testing import FakeSession, worker_files
from service.workers import ACTIONS, FAKE, start, step

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


@pytest.fixture
def local() -> Iterator[LocalConnection]:
    made = LocalConnection(FAKE)
    made.call(start())
    yield made
    made.close()


def session_of(local: LocalConnection) -> FakeSession:
    assert local.servicer is not None
    assert isinstance(local.servicer.session, FakeSession)
    return local.servicer.session


def test_its_session_can_be_looked_into(local: LocalConnection) -> None:
    session = session_of(local)
    local.call(step("add"))
    assert session.number == 8
    session.number = 20
    reply = local.call(step("add"))
    assert isinstance(reply, Stepped)
    assert reply.observations == [21]


def test_one_action_is_applied_without_a_request(local: LocalConnection) -> None:
    assert local.apply(ACTIONS["add"]) is False
    assert local.apply(ACTIONS["nothing"]) is True
    said = local.apply(ACTIONS["end"])
    assert isinstance(said, Stepped)
    assert said.end
    failed = local.apply(ACTIONS["raise"])
    assert isinstance(failed, Failed)
    assert failed.kind == "SessionError"


def test_there_is_nothing_to_wait_for(local: LocalConnection) -> None:
    local.submit(step("add"), later=True)
    assert session_of(local).number == 8
    assert (local.channel, local.fileno(), local.advance(), local.fork()) == (
        None,
        None,
        True,
        None,
    )
    assert isinstance(local.gather(), Stepped)
    with pytest.raises(ServiceIsClosed, match="no request was submitted"):
        local.gather()


def test_each_episode_has_its_own_directory_and_none_is_left(local: LocalConnection) -> None:
    paths: list[Path] = []
    for _ in range(2):
        local.call(start())
        reply = local.call(step(observe=("file",)))
        assert isinstance(reply, Stepped)
        paths.append(Path(reply.observations[0]))
        assert paths[-1].read_text() == "7"
    assert paths[0] != paths[1]
    assert not paths[0].exists()
    scratch = paths[1].parent.parent
    local.close()
    local.close()
    assert not scratch.exists()
    assert not any("local" in str(path) for path in worker_files())


def test_a_closed_one_refuses_everything(local: LocalConnection) -> None:
    local.close()
    assert not local.is_open
    for act in (lambda: local.call(start()), lambda: local.apply(0), lambda: local.submit(step())):
        with pytest.raises(ServiceIsClosed, match=r"the session is closed: call reset\(\)"):
            act()


@pytest.mark.parametrize("request_", [start(), step("add")])
def test_an_interrupt_ends_the_session(
    local: LocalConnection, monkeypatch: pytest.MonkeyPatch, request_: Any
) -> None:
    monkeypatch.setattr(FakeSession, "apply_action", interrupted)
    monkeypatch.setattr(FakeSession, "__init__", interrupted)
    with pytest.raises(KeyboardInterrupt, match="now"):
        local.call(request_)
    assert not local.is_open


def interrupted(*_: Any) -> NoReturn:
    raise KeyboardInterrupt("now")


def test_a_session_that_cannot_be_loaded_reports_it() -> None:
    with pytest.raises(EnvironmentNotSupported, match="not here"):
        LocalConnection(SessionSource(FAKE.session, (("refuse", "not here"),)))
    with pytest.raises(TypeError, match="is not a CompilerSession"):
        LocalConnection(SessionSource("compiler_gym.testing.fakes:_menu"))
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        LocalConnection(SessionSource("no_such_module:Session"))


def test_a_forked_child_ends_nothing_of_its_parents(local: LocalConnection) -> None:
    reply = local.call(step(observe=("file",)))
    assert isinstance(reply, Stepped)
    path = Path(reply.observations[0])
    child = os.fork()
    if child == 0:
        local.close()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert path.read_text() == "7"
    assert isinstance(local.call(step("add")), Stepped)
