# SPDX-License-Identifier: MIT
"""A session in this process: for trusted programs and for debugging."""

import os
import shutil
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path
from typing import Any, NoReturn

from compiler_gym.errors import ServiceIsClosed
from compiler_gym.files import new_scratch
from compiler_gym.service.messages import Reply, Request, Step
from compiler_gym.service.servicer import Servicer
from compiler_gym.service.supervisor import SessionSource
from compiler_gym.service.zygote import prepare_session_class


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
