# SPDX-License-Identifier: MIT
from typing import Any

import pytest

from compiler_gym.errors import ExplorerError
from compiler_gym_explorer.registry import Registry


class Session:
    """What a registry knows of a session."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.idle_seconds = 0.0
        self.is_closed = False
        self.tasks: dict[str, Any] = {}

    def close(self) -> None:
        self.is_closed = True


def filled(*ids: str) -> tuple[Registry, list[Any]]:
    registry = Registry(len(ids), 10.0)
    sessions: list[Any] = [Session(id) for id in ids]
    for session in sessions:
        with registry.place():
            registry.add(session)
    return registry, sessions


def test_the_number_of_sessions_is_bounded() -> None:
    registry, sessions = filled("a", "b")
    with pytest.raises(ExplorerError, match="2 sessions are open") as refused, registry.place():
        pass
    assert refused.value.status == 429
    registry.remove("a")
    assert sessions[0].is_closed
    with registry.place():
        pass


def test_a_place_that_was_kept_for_nothing_is_free_again() -> None:
    registry = Registry(1, 10.0)

    def fail() -> None:
        with registry.place():
            with pytest.raises(ExplorerError, match="1 sessions are open"), registry.place():
                pass
            raise RuntimeError("failed")

    with pytest.raises(RuntimeError, match="failed"):
        fail()
    with registry.place():
        pass


def test_idle_sessions_are_closed_and_no_others() -> None:
    registry, (idle, used) = filled("a", "b")
    idle.idle_seconds = 11.0
    registry.close_idle()
    assert (idle.is_closed, used.is_closed) == (True, False)
    with pytest.raises(ExplorerError, match="no session 'a'"):
        registry.session("a")
    assert registry.session("b") is used


def test_after_the_end_nothing_is_opened() -> None:
    registry, sessions = filled("a")
    registry.close()
    assert sessions[0].is_closed
    with pytest.raises(ExplorerError, match="closing"), registry.place():
        pass
    late: Any = Session("late")
    registry.add(late)
    assert late.is_closed


def test_a_session_that_fails_to_close_ends_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []

    class Stubborn:
        is_closed, tasks, idle_seconds = False, dict[str, Any](), 100.0

        def __init__(self, id: str) -> None:
            self.id = id

        def close(self) -> None:
            closed.append(self.id)
            raise OSError("no")

    registry = Registry(most=5, idle_seconds=1.0)
    for call in (registry.close_idle, registry.close):
        closed.clear()
        for id in "ab":
            registry._sessions[id] = Stubborn(id)  # type: ignore[assignment]  # what it asks of it
        call()
        assert closed == ["a", "b"]
        assert registry.all() == []
