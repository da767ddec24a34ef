# SPDX-License-Identifier: MIT
"""A session that is spared what it need not do: it is opened, catches up and is copied late.

As long as somebody else knows the answers, actions wait here; they are applied together when
the session is needed. A fork is lazy too: it takes a copy of the session when it needs one, or
when the session that it would copy is about to go on.
"""

import threading
import time
import weakref
from collections.abc import Callable, Generator
from typing import Any

from compiler_gym.errors import ServiceError, ServiceIsClosed, error_from_name
from compiler_gym.service import Channel, Connection
from compiler_gym.service.messages import Failed, Reply, Request, Start, Step

__all__ = ["LazySession", "Work"]

Work = Generator[Request, Reply, Reply]
"""What yields requests for the session, is sent its replies, and returns the user's."""
_families = threading.RLock()
"""Held while sessions are copied, which may collect forks that nobody has: they leave at once."""


class LazySession:
    """A session that `open` opens when there is work for it."""

    def __init__(self, open: Callable[[], Connection]) -> None:
        self._open = open
        self._is_open = True
        self.connection: Connection | None = None
        """The session; None as long as nothing has needed it."""
        self._start: Start | None = None
        self.waiting: list[Any] = []
        """The actions that it has yet to apply."""
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
        """Raise `ServiceIsClosed` if it was closed."""
        if not self._is_open:
            raise ServiceIsClosed("the session is closed: call reset()")

    def enter(self, start: Start) -> None:
        """Begin an episode, when it is needed, as `start` says."""
        self._leave_parent()
        self._start, self.waiting = start, []
        self._first, self._history, self._was_forked_here = start, [], False

    def spare(self, action: Any) -> None:
        """Keep an action back: what it does is known."""
        self.waiting.append(action)
        self.note([action])

    def note(self, actions: list[Any]) -> None:
        """Take note of actions that change the program, for a copy that has to repeat them."""
        if actions:
            self._was_forked_here = False
        if self._history is not None:
            self._history += actions

    def forget_history(self) -> None:
        """Take note of a change that no replay has: copies are forks of the session from now on."""
        self._history = None

    def starting(self, names: list[str]) -> Start:
        """Return the start that waits, observing `names`; it waits no more."""
        start, self._start = self._start, None
        assert start is not None
        return Start(start.benchmark, start.action_space, names, start.limits)

    def catch_up(self) -> Request | None:
        """Return the next request that brings the session to where the episode is, if any."""
        if self._start is not None:
            return self.starting([])
        waiting, self.waiting = self.waiting, []
        return Step(waiting, []) if waiting else None

    def begin(self, work: Work, timeout: float | None, *, later: bool) -> None:
        """Begin `work`: the session gets the first of its requests."""
        self._until = None if timeout is None else time.monotonic() + timeout
        self._later = later
        self._adopt()  # it may be one that has to catch up
        self._work = work
        self._go_on(None)

    def refuse_if_interrupted(self) -> None:
        """End the session if its last work was left: its actions may not be those noted."""
        if self._work is not None or self._failure is not None:
            self._work = self._failure = None
            self.abandon()
            raise ServiceIsClosed("the last request was interrupted: call reset()")

    def advance(self) -> bool:
        """Take one reply and ask for what comes next, if anything does; what fails is for `end`."""
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
        """What holds the next request, if that was kept back."""
        return None if self._work is None or self.connection is None else self.connection.channel

    def fileno(self) -> int | None:
        """The descriptor that becomes readable when `advance` need not wait, if one does."""
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
        if self._history is None:  # a parameter is part of the state: no replay has it
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
        """Fork the session of `parent`; one that cannot be forked is replayed when needed."""
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
        """The seconds of the request's own that are left, if it has any."""
        return None if self._until is None else max(self._until - time.monotonic(), 1e-3)

    def _go_on(self, reply: Reply | None) -> None:
        """Work on with `reply`: to the next request of the session, or to the end."""
        work = self._work
        assert work is not None
        try:
            if reply is None:
                self._need_connection()  # it may fail: before anything is taken for asked
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
        """Apply what waits; a session that fails at it is lost."""
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
        """Forget the session that would have been copied."""
        parent = self._parent
        if parent is not None:
            with _families:
                self._parent = None
                parent._children.discard(self)

    def _release(self) -> None:
        """Let the forks copy the session as it is, before it goes on."""
        with _families:
            for child in list(self._children):
                child.fork_parent(self)
            self._children.clear()

    def _adopt(self) -> None:
        """Copy the session of the parent, unless that was done."""
        parent = self._parent
        if parent is not None:
            with _families:
                if self._parent is not None:
                    self.fork_parent(parent)
                    parent._children.discard(self)
