# SPDX-License-Identifier: MIT
"""The open sessions: limited in number, and closed when idle."""

import logging
import threading
from collections.abc import Generator
from contextlib import contextmanager

from compiler_gym.errors import ExplorerError
from compiler_gym_explorer.explored import Explored

__all__ = ["Registry"]

_log = logging.getLogger(__name__)


class Registry:
    """The open sessions, by id; thread-safe."""

    def __init__(self, most: int, idle_seconds: float) -> None:
        self.most = most
        self.idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._sessions: dict[str, Explored] = {}
        self._opening = 0
        self._is_closed = False

    @contextmanager
    def place(self) -> Generator[None]:
        """Reserve a place for a new session; raise `ExplorerError` if there is none."""
        self.close_idle()
        with self._lock:
            if self._is_closed:
                raise ExplorerError("the server is closing", status=503)
            if len(self._sessions) + self._opening >= self.most:
                raise ExplorerError(
                    f"{self.most} sessions are open, the maximum",
                    status=429,
                    next="close one of them",
                )
            self._opening += 1
        try:
            yield
        finally:
            with self._lock:
                self._opening -= 1

    def add(self, session: Explored) -> None:
        """Add a session for which a place was reserved."""
        with self._lock:
            is_late = self._is_closed
            if not is_late:
                self._sessions[session.id] = session
        if is_late:
            session.close()

    def session(self, id: str) -> Explored:
        """Return a session, or raise `ExplorerError`."""
        with self._lock:
            session = self._sessions.get(id)
        if session is None or session.is_closed:
            raise ExplorerError(
                f"there is no session {id!r}: it was closed, or idle for over "
                f"{self.idle_seconds:g} seconds",
                status=404,
                next="open it again from its link",
            )
        return session

    def all(self) -> list[Explored]:
        """Return every session."""
        with self._lock:
            return list(self._sessions.values())

    def remove(self, id: str) -> None:
        """Close a session."""
        self._end(self.session(id))

    def close_idle(self) -> None:
        """Close sessions that have been idle for too long."""
        for session in self.all():
            if session.is_closed or session.idle_seconds > self.idle_seconds:
                self._end(session)

    def close(self) -> None:
        """Close every session and accept no new ones."""
        with self._lock:
            self._is_closed = True
            sessions = list(self._sessions.values())
            self._sessions.clear()
        for session in sessions:
            self._end(session)
        for session in sessions:
            for task in session.tasks.values():
                task.join(10.0)

    def _end(self, session: Explored) -> None:
        """Close and remove a session; an error while closing affects no other session."""
        try:
            session.close()
        except Exception:
            _log.exception("error while closing session %s", session.id)
        with self._lock:
            self._sessions.pop(session.id, None)
