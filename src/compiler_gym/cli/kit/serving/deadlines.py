# SPDX-License-Identifier: MIT
"""Closes connections that send their requests too slowly. Needs uvicorn.

Uvicorn limits the pause between two requests, not the time that one request takes to arrive.
"""

import asyncio
import time
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from compiler_gym.cli.kit.serving.guard import MOST_BODY_BYTES

__all__ = ["server_settings"]

_REQUEST_SECONDS = 60.0
"""The time in which the head and the body of a request must arrive."""
_LOOKS = 4
"""Number of checks of a connection in that time."""
_UNFINISHED = (h11.IDLE, h11.SEND_BODY)


def server_settings(request_seconds: float = _REQUEST_SECONDS) -> dict[str, Any]:
    """Return arguments of ``uvicorn.Config`` that limit the size and the duration of requests.

    Args:
        request_seconds: The time in which the head and the body of a request must arrive.
    """

    class Timed(H11Protocol):
        _look: asyncio.TimerHandle | None = None
        _since: float | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget()
            super().connection_lost(exc)

        def handle_websocket_upgrade(self, event: h11.Request) -> None:
            self._forget()  # another protocol owns the connection from here on
            super().handle_websocket_upgrade(event)

        def _watch(self) -> None:
            now = time.monotonic()
            if self.conn.their_state not in _UNFINISHED:
                self._since = None
            elif self._since is None:
                self._since = now
            elif now - self._since >= request_seconds:
                self.transport.close()
                return
            self._look = self.loop.call_later(request_seconds / _LOOKS, self._watch)

        def _forget(self) -> None:
            if self._look is not None:
                self._look.cancel()

    return {
        "http": Timed,
        "timeout_keep_alive": 30,
        "h11_max_incomplete_event_size": 64 << 10,
        "ws_max_size": MOST_BODY_BYTES,
    }
