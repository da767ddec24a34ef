# SPDX-License-Identifier: MIT
"""The interface between an environment and its session, wherever that runs."""

from collections.abc import Callable
from typing import Any, Protocol

from compiler_gym.lazy import door
from compiler_gym.service.messages import Reply, Request
from compiler_gym.service.transport import Channel


class Connection(Protocol):
    """The operations that an environment needs from a session, wherever it runs."""

    @property
    def is_open(self) -> bool:
        """True if a request can be made."""
        ...

    @property
    def apply(self) -> Callable[[Any], bool | Reply] | None:
        """A function that applies one action directly, without a worker process; otherwise None.

        It returns True if the action changed nothing, False if it did, or a reply with more
        details. It raises like `call`.
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
        """Begin a request without waiting; `gather` returns the reply. Raises like `call`.

        With `later` it may be held back, for `exchange` or `gather` to send.
        """
        ...

    def gather(self, timeout: float | None = None) -> Reply:
        """Return the reply to the last request submitted, like `call`.

        Waits until the deadline of the request, or for `timeout` seconds if given.
        """
        ...

    @property
    def channel(self) -> Channel | None:
        """The channel of a request that was held back; None if there is nothing to send."""
        ...

    def fileno(self) -> int | None:
        """Return a descriptor that becomes readable when `advance` will not block, if needed."""
        ...

    def advance(self) -> bool:
        """Do the work that must precede `gather`; return False if it must be called again.

        Most requests are a single request of the session, and there is nothing to do.
        """
        ...

    def abandon(self) -> None:
        """End the session even in the middle of a request."""
        ...

    def fork(self) -> "Connection | None":
        """Return a connection to an exact copy of the session, or None if replay is needed."""
        ...

    def close(self) -> None:
        """End the session and release its resources. Safe to call twice."""
        ...


_OLD_ERRORS = ("ServiceError", "ServiceInitError", "ServiceIsClosed", "ServiceTransportError")
__getattr__ = door(  # CompilerGym 0.2.5 had these names here
    __name__,
    {
        "ConnectionOpts": "compiler_gym.compat",
        **dict.fromkeys(_OLD_ERRORS, "compiler_gym.errors"),
    },
)
