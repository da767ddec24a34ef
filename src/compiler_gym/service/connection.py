# SPDX-License-Identifier: MIT
"""The interface between an environment and its session, wherever that runs.

`LocalConnection` has the session in this process: for trusted programs and for debugging.
"""

import os
import shutil
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path
from typing import Any, NoReturn, Protocol

from compiler_gym.errors import ServiceIsClosed
from compiler_gym.files import new_scratch
from compiler_gym.lazy import door
from compiler_gym.service.messages import Reply, Request, Step
from compiler_gym.service.servicer import Servicer
from compiler_gym.service.supervisor import SessionSource
from compiler_gym.service.transport import Channel
from compiler_gym.service.zygote import prepare_session_class


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


class LocalConnection:
    """A session in this process, without isolation."""

    def __init__(self, source: SessionSource) -> None:
        session_class = prepare_session_class(source.session, dict(source.options))
        self._scratch = new_scratch("local")
        self._directories = 0
        self._context = copy_context()  # context variables of a session do not reach its client
        self._owner = os.getpid()
        self.servicer: Servicer | None = Servicer(session_class, self._new_directory)
        self.apply: Callable[[Any], bool | Reply] = self.servicer.apply
        """`Servicer.apply`, or a function that raises `ServiceIsClosed`."""
        self._reply: Reply | None = None
        self.channel = None
        """None: replies come without a channel."""

    @property
    def is_open(self) -> bool:
        """True if a request can be made."""
        return self.servicer is not None

    def call(self, request: Request, timeout: float | None = None) -> Reply:
        """Return the reply to `request`; deadlines are not enforced here."""
        servicer = self.servicer
        if servicer is None:
            _refuse(request)
        try:
            if type(request) is Step:
                return self._context.run(servicer.step, request)
            return self._context.run(servicer.handle, request)
        except BaseException:  # an interrupt may leave the session in any state
            self.close()
            raise

    def submit(
        self, request: Request, timeout: float | None = None, *, later: bool = False
    ) -> None:
        """Serve `request` now; `gather` returns the reply."""
        self._reply = self.call(request, timeout)

    def gather(self, timeout: float | None = None) -> Reply:
        """Return the reply to the last request submitted."""
        reply, self._reply = self._reply, None
        if reply is None:
            raise ServiceIsClosed("no request was submitted")
        return reply

    def fileno(self) -> None:
        """Return None: there is nothing to wait for."""

    def advance(self) -> bool:
        """Return True: the reply is available."""
        return True

    def abandon(self) -> None:
        """End the session."""
        self.close()

    def fork(self) -> None:
        """Return None: a session in this process is copied by replay."""
        return None

    def close(self) -> None:
        """End the session and remove its files. Safe to call twice."""
        servicer, self.servicer, self.apply = self.servicer, None, _refuse
        if servicer is not None and os.getpid() == self._owner:
            servicer.stop()
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _new_directory(self) -> Path:
        self._directories += 1
        return self._scratch / str(self._directories)


def _refuse(request: Any) -> NoReturn:
    raise ServiceIsClosed("the session is closed: call reset()")
