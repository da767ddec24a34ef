# SPDX-License-Identifier: MIT
"""A session in this process is served at once, and leaves no files behind."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from compiler_gym.errors import EnvironmentNotSupported, ServiceIsClosed
from compiler_gym.service import LocalConnection, SessionSource
from compiler_gym.service.messages import Failed, Stepped
from compiler_gym.testing import FakeSession, worker_files
from service.workers import ACTIONS, FAKE, start, step


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
