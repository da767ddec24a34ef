# SPDX-License-Identifier: MIT
"""A connection that notes when its requests began and ended, and is otherwise the one within."""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic_ns
from typing import Any

from compiler_gym.service import Channel, Connection
from compiler_gym.service.messages import Reply, Request, Stepped

__all__ = ["TimedConnection", "TimedRequest"]


@dataclass(frozen=True, slots=True)
class TimedRequest:
    """One request: when it was on its way, on the monotonic clock."""

    began: int
    ended: int
    served: int | None
    """The nanoseconds that the worker says it took of that; None where none says so."""


class TimedConnection:
    """A `Connection` over `inner`."""

    def __init__(self, inner: Connection) -> None:
        self.inner = inner
        """What does the work."""
        self.requests: list[TimedRequest] = []
        """Those that ended since this list was last emptied."""
        self._began = 0

    @property
    def is_open(self) -> bool:
        """True if a request can be made."""
        return self.inner.is_open

    @property
    def apply(self) -> Callable[[Any], bool | Reply] | None:
        """What applies one action at once, where the session is in this process."""
        return None if self.inner.apply is None else self._apply

    @property
    def channel(self) -> Channel | None:
        """What a request that was kept back is sent through."""
        return self.inner.channel

    def call(self, request: Request, timeout: float | None = None) -> Reply:
        """Return the reply to `request`."""
        self.submit(request, timeout)
        return self.gather()

    def submit(
        self, request: Request, timeout: float | None = None, *, later: bool = False
    ) -> None:
        """Begin a request without waiting."""
        self._began = monotonic_ns()
        try:
            self.inner.submit(request, timeout, later=later)
        except BaseException:
            self._note(None)
            raise

    def gather(self, timeout: float | None = None) -> Reply:
        """Return the reply to the last request submitted."""
        try:
            reply = self.inner.gather(timeout)
        except BaseException:
            self._note(None)
            raise
        self._note(reply)
        return reply

    def fileno(self) -> int | None:
        """What becomes readable when `advance` need not wait."""
        return self.inner.fileno()

    def advance(self) -> bool:
        """Do what can be done before `gather`."""
        return self.inner.advance()

    def abandon(self) -> None:
        """End the session even in the middle of a request."""
        self.inner.abandon()

    def fork(self) -> Connection | None:
        """Return a connection to a copy of the session, which is not timed."""
        return self.inner.fork()

    def close(self) -> None:
        """End the session."""
        self.inner.close()

    def _apply(self, action: Any) -> bool | Reply:
        apply = self.inner.apply
        assert apply is not None
        self._began = monotonic_ns()
        try:
            return apply(action)
        finally:
            self._note(None)

    def _note(self, reply: Reply | None) -> None:
        served = int(reply.seconds * 1e9) if type(reply) is Stepped and reply.seconds else None
        self.requests.append(TimedRequest(self._began, monotonic_ns(), served))
