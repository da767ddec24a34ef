# SPDX-License-Identifier: MIT
"""A connection that records when its requests began and ended, and delegates to another one."""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic_ns
from typing import Any

from compiler_gym.service import Channel, Connection
from compiler_gym.service.messages import Reply, Request, Stepped

__all__ = ["TimedConnection", "TimedRequest"]


@dataclass(frozen=True, slots=True)
class TimedRequest:
    """The times of one request, in nanoseconds of the monotonic clock."""

    began: int
    ended: int
    served: int | None
    """Nanoseconds spent in the worker, as the worker reports; None without a report."""


class TimedConnection:
    """A `Connection` that forwards to `inner` and times each request."""

    def __init__(self, inner: Connection) -> None:
        self.inner = inner
        """The connection that does the work."""
        self.requests: list[TimedRequest] = []
        """Requests that ended since this list was last emptied."""
        self._began = 0

    @property
    def is_open(self) -> bool:
        """True if a request can be made."""
        return self.inner.is_open

    @property
    def apply(self) -> Callable[[Any], bool | Reply] | None:
        """Function that applies one action directly if the session is in this process."""
        return None if self.inner.apply is None else self._apply

    @property
    def channel(self) -> Channel | None:
        """Channel through which a delayed request is sent."""
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
        """Return the descriptor that becomes readable when `advance` need not wait."""
        return self.inner.fileno()

    def advance(self) -> bool:
        """Do all work possible before `gather`."""
        return self.inner.advance()

    def abandon(self) -> None:
        """End the session even in the middle of a request."""
        self.inner.abandon()

    def fork(self) -> Connection | None:
        """Return an untimed connection to a copy of the session."""
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
