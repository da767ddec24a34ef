# SPDX-License-Identifier: MIT
"""A session that is opened, caught up and copied only when necessary.

While the cache can answer, actions wait here; they are applied together when the session is
needed. A fork is lazy too: it copies the session when it needs one, or when the session that it
would copy is about to continue.
"""

import threading
import time
import weakref
from collections.abc import Callable, Generator
from typing import Any

from compiler_gym.errors import ServiceError, ServiceIsClosed, error_from_name
from compiler_gym.service import Channel, Connection
from compiler_gym.service.messages import Failed, Reply, Request, Start, Step

Work = Generator[Request, Reply, Reply]
"""Yields requests for the session, receives its replies, and returns the user's reply."""
_families = threading.RLock()
"""Held while sessions are copied, which may collect unreferenced forks: they end at once."""


class LazySession:
    """A session that `open` opens when there is work for it."""

    def __init__(self, open: Callable[[], Connection]) -> None:
        self._open = open
        self._is_open = True
        self.connection: Connection | None = None
        """The session; None until something needs it."""
        self._start: Start | None = None
        self.waiting: list[Any] = []
        """The actions that are still to be applied."""
        self._first: Start | None = None
        self._history: list[Any] | None = None
        self._parent: LazySession | None = None
        self._children: weakref.WeakSet[LazySession] = weakref.WeakSet()
        self._was_forked_here = False
        self._work: Work | None = None
        self._answer: Reply | None = None
        self._failure: Exception | None = None
        self._until: float | None = None
        self._later = False

    @property
    def is_open(self) -> bool:
        """True if there can be work for it."""
        return self._is_open and (self.connection is None or self.connection.is_open)

    def require_open(self) -> None:
        """Raise `ServiceIsClosed` if the session was closed."""
        if not self._is_open:
            raise ServiceIsClosed("the session is closed: call reset()")

    def enter(self, start: Start) -> None:
        """Begin the episode of `start`; the session starts it when it is needed."""
        self._leave_parent()
        self._start, self.waiting = start, []
        self._first, self._history, self._was_forked_here = start, [], False

    def spare(self, action: Any) -> None:
        """Hold back an action whose result is known."""
        self.waiting.append(action)
        self.note([action])

    def note(self, actions: list[Any]) -> None:
        """Record actions that change the program, for a copy that has to replay them."""
        if actions:
            self._was_forked_here = False
        if self._history is not None:
            self._history += actions

    def forget_history(self) -> None:
        """Note a change that no replay repeats: from now on, copies are forks of the session."""
        self._history = None

    def starting(self, names: list[str]) -> Start:
        """Return the pending start, observing `names`; it is no longer pending."""
        start, self._start = self._start, None
        assert start is not None
        return Start(start.benchmark, start.action_space, names, start.limits)

    def catch_up(self) -> Request | None:
        """Return the next request that brings the session up to date with the episode, if any."""
        if self._start is not None:
            return self.starting([])
        waiting, self.waiting = self.waiting, []
        return Step(waiting, []) if waiting else None

    def begin(self, work: Work, timeout: float | None, *, later: bool) -> None:
        """Begin `work`: send its first request to the session."""
        self._until = None if timeout is None else time.monotonic() + timeout
        self._later = later
        self._adopt()  # the copy may have to catch up
        self._work = work
        self._go_on(None)

    def refuse_if_interrupted(self) -> None:
        """End the session if its last work was interrupted: its actions may not be those noted."""
        if self._work is not None or self._failure is not None:
            self._work = self._failure = None
            self.abandon()
            raise ServiceIsClosed("the last request was interrupted: call reset()")

    def advance(self) -> bool:
        """Read one reply and send the next request, if any; `end` raises the errors."""
        if self._work is None:
            return True
        assert self.connection is not None
        try:
            reply = self.connection.gather(self._left)
        except Exception as error:
            self._work, self._failure = None, error
        else:
            self._go_on(reply)
        return self._work is None

    def end(self, timeout: float | None) -> Reply | None:
        """Wait until the work is done and return its reply; None if there was no work."""
        if timeout is not None:
            self._until = time.monotonic() + timeout
        while not self.advance():
            pass
        answer, self._answer = self._answer, None
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        return answer

    @property
    def channel(self) -> Channel | None:
        """The channel with the next request, if that was held back."""
        return None if self._work is None or self.connection is None else self.connection.channel

    def fileno(self) -> int | None:
        """Return the descriptor that becomes readable when `advance` will not block, if any."""
        return None if self._work is None or self.connection is None else self.connection.fileno()

    def fork(self) -> "LazySession | None":
        """Return a session in the same state; None if it must be replayed."""
        self._adopt()
        if self._was_forked_here and self.connection is not None and self.waiting:
            self._settle()  # or every fork would apply the same actions again
        self._was_forked_here = True
        twin = LazySession(self._open)
        twin._start, twin.waiting = self._start, list(self.waiting)
        twin._first = self._first
        twin._history = None if self._history is None else list(self._history)
        if self.connection is None:
            return twin
        if self._history is None:  # a parameter is part of the state, and no replay repeats it
            twin.connection = self._need_connection().fork()
            return twin if twin.connection is not None else None
        with _families:
            twin._parent = self
            self._children.add(twin)
        return twin

    def close(self) -> None:
        """End the session, if there is one."""
        self._leave(lambda session: session.close())

    def abandon(self) -> None:
        """End the session even in the middle of a request."""
        self._leave(lambda session: session.abandon())

    def fork_parent(self, parent: "LazySession") -> None:
        """Fork the session of `parent`; if it cannot be forked, replay it when needed."""
        self._parent = None
        session = parent.connection
        if session is not None and session.is_open:
            try:
                self.connection = session.fork()
            except ServiceError:
                self.connection = None
        if self.connection is None and self._history is not None:
            self._start, self.waiting = self._first, list(self._history)

    @property
    def _left(self) -> float | None:
        """The seconds left until the deadline of the request, if it has one."""
        return None if self._until is None else max(self._until - time.monotonic(), 1e-3)

    def _go_on(self, reply: Reply | None) -> None:
        """Continue the work with `reply`, up to its next request or its end."""
        work = self._work
        assert work is not None
        try:
            if reply is None:
                self._need_connection()  # may fail: do it before the request counts as sent
                request = next(work)
            else:
                request = work.send(reply)
            self._need_connection().submit(request, self._left, later=self._later)
        except StopIteration as end:
            self._work, self._answer = None, end.value
        except Exception as error:
            self._work, self._failure = None, error

    def _need_connection(self) -> Connection:
        if self._children:
            self._release()
        if self.connection is None:
            self.connection = self._open()
        if not self.connection.is_open:
            raise ServiceIsClosed("the session is closed: call reset()")
        return self.connection

    def _settle(self) -> None:
        """Apply pending actions; a session that fails to do so is lost."""
        while (request := self.catch_up()) is not None:
            reply = self._need_connection().call(request)
            if isinstance(reply, Failed):
                raise error_from_name(reply.kind, reply.message)

    def _leave(self, end: Callable[[Connection], None]) -> None:
        if not self._is_open:
            return
        self._is_open = False
        self._leave_parent()
        self._release()
        if self.connection is not None:
            end(self.connection)

    def _leave_parent(self) -> None:
        """Forget the session that this one would have copied."""
        parent = self._parent
        if parent is not None:
            with _families:
                self._parent = None
                parent._children.discard(self)

    def _release(self) -> None:
        """Let the forks copy the session in its present state, before it continues."""
        with _families:
            for child in list(self._children):
                child.fork_parent(self)
            self._children.clear()

    def _adopt(self) -> None:
        """Copy the session of the parent, unless that has happened."""
        parent = self._parent
        if parent is not None:
            with _families:
                if self._parent is not None:
                    self.fork_parent(parent)
                    parent._children.discard(self)
