# SPDX-License-Identifier: MIT
"""A gate before an application of another library: it refuses what that cannot read.

It checks the names in the head, reads a body of bounded length, and accepts JSON alone. It has no
opinion on the fields of the JSON.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import msgspec

from compiler_gym.errors import CompilerGymError, ExplorerError
from compiler_gym.serving.guard import Guard
from compiler_gym.serving.statuses import status_of

__all__ = ["MOST_BODY_BYTES", "Gate"]

MOST_BODY_BYTES = 16 << 20
"""The longest body of a request, and the longest message of a web socket."""
_IDLE_SECONDS = 1800.0
"""The time after which a web socket that sends nothing is closed."""
_TOO_OLD = 1000
"""The status with which it is closed."""
_BAD_VALUES = (AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Errors of an application that takes JSON of another shape for granted."""
_MOST_LETTERS = 2_000
_log = logging.getLogger(__name__)

_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_App = Callable[[_Message, _Receive, _Send], Awaitable[None]]


class Gate:
    """Middleware of ASGI that answers 4xx with a JSON ``detail`` instead of calling `app`.

    An error that the application raises before it answers is answered here, too.
    """

    def __init__(self, app: _App, guard: Guard, idle_seconds: float = _IDLE_SECONDS) -> None:
        self._app = app
        self._guard = guard
        self._idle_seconds = idle_seconds

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        """Serve one request or one web socket."""
        if scope["type"] == "websocket":
            await self._serve_socket(scope, receive, send)
        elif scope["type"] == "http":
            await self._serve_request(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _serve_request(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        headers, has_answered, is_read = _headers(scope), False, False

        async def replay() -> _Message:
            nonlocal is_read
            if is_read:
                return await receive()
            is_read = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def note(message: _Message) -> None:
            nonlocal has_answered
            has_answered = True
            await send(message)

        try:
            self._guard.check_names(headers)
            body = await _read_body(headers, receive)
            if body is None:  # the client has gone
                return
            await self._app(scope, replay, note)
        except (CompilerGymError, *_BAD_VALUES) as error:
            if has_answered:
                raise
            if not isinstance(error, CompilerGymError):
                _log.warning("a request was refused with %r", error)
            await _refuse(error, send)

    async def _serve_socket(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        async def receive_soon() -> _Message:
            try:
                return await asyncio.wait_for(receive(), self._idle_seconds)
            except TimeoutError:
                return {"type": "websocket.disconnect", "code": _TOO_OLD, "reason": "idle"}

        try:
            self._guard.check_names(_headers(scope))
        except ExplorerError as error:
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": str(error)[:120]})
            return
        await self._app(scope, receive_soon, send)


def _headers(scope: _Message) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


async def _read_body(headers: dict[str, str], receive: _Receive) -> bytes | None:
    """Return a body that is empty or JSON; None where the client went away."""
    declared = headers.get("content-length", "")
    if len(declared) > len(str(MOST_BODY_BYTES)) or int(declared or 0) > MOST_BODY_BYTES:
        raise _too_long()
    data, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        data += message.get("body", b"")
        more = message.get("more_body", False)
        if len(data) > MOST_BODY_BYTES:
            raise _too_long()
    if data:
        _check_json(headers, bytes(data))
    return bytes(data)


def _check_json(headers: dict[str, str], data: bytes) -> None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ExplorerError(f"content type is {kind!r:.100}: expected application/json", status=415)
    try:
        msgspec.json.decode(data)
        json.loads(data)  # the application's reader nests less deeply, and limits digits
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ExplorerError(f"the body cannot be read as JSON: {error}") from error


def _too_long() -> ExplorerError:
    return ExplorerError(
        f"the body is longer than {MOST_BODY_BYTES:,} bytes: send a shorter one", status=413
    )


async def _refuse(error: Exception, send: _Send) -> None:
    status = status_of(error) if isinstance(error, CompilerGymError) else 400
    reason = str(error)[:_MOST_LETTERS] or type(error).__name__
    body = json.dumps({"detail": f"{type(error).__name__}: {reason}"}).encode()
    head = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})
