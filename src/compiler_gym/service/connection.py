# SPDX-License-Identifier: MIT
"""The interface of an environment to its session, wherever that runs."""

from collections.abc import Callable
from typing import Any, Protocol

from compiler_gym.lazy import door
from compiler_gym.service.messages import Reply, Request
from compiler_gym.service.transport import Channel

__all__ = ["Connection"]


class Connection(Protocol):
    """What an environment needs of a session, wherever it runs."""

    @property
    def is_open(self) -> bool:
        """True if a request can be made."""
        ...

    @property
    def apply(self) -> Callable[[Any], bool | Reply] | None:
        """What applies one action at once, where no process is to be reached; otherwise None.

        It returns whether the action changed nothing, or a reply that says more. It raises
        as `call` does.
        """
        ...

    def call(self, request: Request, timeout: float | None = None) -> Reply:
        """Return the reply to `request`; `Failed` replies are returned, not raised.

        Raises `WorkerDied` when the worker ends before it answers, and
        `ServiceIsClosed` when the connection is closed.
        """
        ...

    def submit(
        self, request: Request, timeout: float | None = None, *, later: bool = False
    ) -> None:
        """Begin a request without waiting; `gather` returns the reply. Raises as `call` does.

        With `later` it may be kept back, for `exchange` or `gather` to send.
        """
        ...

    def gather(self, timeout: float | None = None) -> Reply:
        """Return the reply to the last request submitted, as `call` does.

        It is waited for until the deadline of its request; `timeout` seconds from now if given.
        """
        ...

    @property
    def channel(self) -> Channel | None:
        """What a request that was kept back is sent through; None if there is nothing to send."""
        ...

    def fileno(self) -> int | None:
        """What becomes readable when `advance` need not wait, or None if it need not now."""
        ...

    def advance(self) -> bool:
        """Do what can be done before `gather`; return False if that is to be called again.

        Most requests are one of the session too, and there is nothing to do.
        """
        ...

    def abandon(self) -> None:
        """End the session even in the middle of a request."""
        ...

    def fork(self) -> "Connection | None":
        """Return a connection to an exact copy of the session, or None if replay is needed."""
        ...

    def close(self) -> None:
        """End the session and what holds it. Calling it twice is fine."""
        ...


_OLD_ERRORS = ("ServiceError", "ServiceInitError", "ServiceIsClosed", "ServiceTransportError")
__getattr__ = door(  # 0.2.5 had these here
    __name__,
    {
        "ConnectionOpts": "compiler_gym.compat",
        **dict.fromkeys(_OLD_ERRORS, "compiler_gym.errors"),
    },
)
