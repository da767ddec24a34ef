# SPDX-License-Identifier: MIT
"""A gate before an application of another library: it rejects invalid requests.

It checks who may send requests by the token, the origin and the host name of each request,
reads a body of bounded length, and accepts only JSON, whose fields are not checked.

A foreign web page can make a browser send requests here, but it cannot read the token, and the
browser reports its origin. Requests with a foreign host name are rejected too, against DNS
rebinding. If the server is open to other machines, it accepts numeric addresses, because no page
can redirect these, and the name of this machine.
"""

import asyncio
import json
import logging
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from ipaddress import ip_address
from typing import Any

import msgspec

from compiler_gym.errors import (
    BenchmarkNotFoundError,
    CompilerError,
    CompilerGymError,
    ExplorerError,
    RequestError,
    ServiceError,
    StateFileNotFoundError,
    UnknownNameError,
    WorkerTimeoutError,
)

EVERYWHERE = frozenset({"", "0.0.0.0", "[::]"})
"""Host values that mean every address of a machine."""
_LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})


class Guard:
    """Checks the head of each request."""

    def __init__(self, token: str, hosts: Iterable[str]) -> None:
        self._token = token.encode()
        self._hosts = _LOOPBACK_HOSTS | {_bracket(host) for host in hosts}
        self._by_address = not self._hosts.isdisjoint(EVERYWHERE)
        if self._hosts != _LOOPBACK_HOSTS:  # open to other machines, by the name of this one
            name = socket.gethostname().lower().partition(".")[0]
            self._hosts |= {socket.gethostname().lower(), name, f"{name}.local"}

    def check_names(self, headers: Mapping[str, str]) -> None:
        """Raise `ExplorerError` unless host and origin are this server's."""
        host = headers.get("host", "")
        name = _host_name(host)
        if not name or (name not in self._hosts and not (self._by_address and _is_address(name))):
            raise ExplorerError(
                f"host {host!r:.100} is not allowed: use the address that was printed, or with "
                "--host the address or the name of this machine",
                status=403,
            )
        origin = headers.get("origin")
        if origin is not None:
            scheme, _, address = origin.partition("://")
            if scheme not in ("http", "https") or address.lower() != host.lower():
                raise ExplorerError(f"origin {origin!r:.100} is not allowed", status=403)
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and not (
            headers.get("sec-fetch-mode") == "navigate"
        ):
            raise ExplorerError(
                "requests from another site are not allowed: use this page", status=403
            )

    def check_token(self, headers: Mapping[str, str], in_query: str | None) -> None:
        """Raise `ExplorerError` unless the request has the token."""
        scheme, _, credentials = headers.get("authorization", "").partition(" ")
        token = credentials.strip() if scheme.lower() == "bearer" else in_query
        if token is None or not secrets.compare_digest(token.encode(), self._token):
            raise ExplorerError(
                "the token is missing or wrong: use the one in the address that was printed",
                status=401,
                next="open that address again",
            )


def _host_name(host: str) -> str:
    """Return a host without its port."""
    if host.startswith("["):
        return host.partition("]")[0].lower() + "]"
    return host.partition(":")[0].lower()


def _is_address(name: str) -> bool:
    """Return whether a host is a numeric address, which DNS cannot redirect."""
    try:
        ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def _bracket(host: str) -> str:
    try:
        return f"[{host}]" if ip_address(host).version == 6 else host
    except ValueError:
        return host.lower()


_STATUS: tuple[tuple[type[CompilerGymError], int], ...] = (
    (BenchmarkNotFoundError, 404),
    (StateFileNotFoundError, 404),
    (UnknownNameError, 404),
    (RequestError, 400),
    (CompilerError, 422),
    (WorkerTimeoutError, 504),
    (ServiceError, 502),
)
"""The status for each error class; the first matching class counts."""


def choose_status(error: Exception) -> int:
    """Return the HTTP status for `error`; 500 if it is a defect of the server."""
    if isinstance(error, ExplorerError):
        return error.status
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


MOST_BODY_BYTES = 16 << 20
"""The longest body of a request, and the longest message of a web socket."""
_IDLE_SECONDS = 1800.0
"""The time after which a web socket that sends nothing is closed."""
_GOING_AWAY, _BAD_DATA, _REFUSED = 1001, 1007, 1008
"""Codes with which a web socket is closed (RFC 6455)."""
_MOST_REASON = 40
"""The most letters of a reason, which may have 123 bytes."""
_BAD_VALUES = (AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Errors of an application that assumes JSON of another shape."""
_MOST_LETTERS = 2_000
_MOST_DIGITS = 15
_log = logging.getLogger(__name__)

_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_App = Callable[[_Message, _Receive, _Send], Awaitable[None]]


class Gate:
    """ASGI middleware that answers 4xx with a JSON ``detail`` instead of calling `app`.

    It also answers if the application raises an error before it has answered.
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
            if body is None:  # the client has disconnected
                return
            await self._app(scope, replay, note)
        except (CompilerGymError, *_BAD_VALUES) as error:
            if has_answered:
                raise
            if not isinstance(error, CompilerGymError):
                _log.warning("a request was refused with %r", error)
            await _refuse_body(error, send)

    async def _serve_socket(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        async def receive_checked() -> _Message:
            try:
                message = await asyncio.wait_for(receive(), self._idle_seconds)
                if message["type"] == "websocket.receive":
                    _check_message(message)
            except TimeoutError:
                code, reason = _GOING_AWAY, "no message for too long: connect again"
            except ExplorerError as error:
                code, reason = _BAD_DATA, str(error)
            else:
                return message
            await send({"type": "websocket.close", "code": code, "reason": reason[:_MOST_REASON]})
            return {"type": "websocket.disconnect", "code": code, "reason": ""}

        try:
            self._guard.check_names(_headers(scope))
        except ExplorerError as error:
            await receive()
            reason = str(error)[:_MOST_REASON]
            await send({"type": "websocket.close", "code": _REFUSED, "reason": reason})
            return
        await self._app(scope, receive_checked, send)


def _headers(scope: _Message) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


async def _read_body(headers: dict[str, str], receive: _Receive) -> bytes | None:
    """Return a body that is empty or JSON; None if the client disconnected.

    A body that is too long is read to its end and discarded: otherwise a client that is still
    sending would see a broken connection instead of the answer.
    """
    declared = headers.get("content-length", "0")
    too_long = len(declared) > _MOST_DIGITS or int(declared) > MOST_BODY_BYTES
    data, more = bytearray(), not (too_long and "expect" in headers)
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        data += message.get("body", b"")
        more = message.get("more_body", False)
        if too_long := too_long or len(data) > MOST_BODY_BYTES:
            data.clear()
    if too_long:
        raise ExplorerError(
            f"the body is longer than {MOST_BODY_BYTES:,} bytes: send a shorter one", status=413
        )
    if data:
        _check_json(headers, bytes(data))
    return bytes(data)


def _check_json(headers: dict[str, str], data: bytes) -> None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ExplorerError(f"use content type application/json (got {kind!r:.100})", status=415)
    _parse_json(data)


def _check_message(message: _Message) -> None:
    """Raise `ExplorerError` unless a web socket's message is an object, or text that is not JSON.

    Applications answer the latter themselves.
    """
    text = message.get("text")
    try:
        json.loads(text or "")
    except json.JSONDecodeError:
        if text:
            return
    except (ValueError, RecursionError):  # reported by `_parse_json`
        pass
    if not isinstance(_parse_json((text or "").encode(errors="surrogatepass")), dict):
        raise ExplorerError("a message must be a JSON object")


def _parse_json(data: bytes) -> Any:
    try:
        json.loads(data)  # limits nesting and digits more strictly than msgspec
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ExplorerError(f"the body cannot be read as JSON: {error}") from error


async def _refuse_body(error: Exception, send: _Send) -> None:
    status = choose_status(error) if isinstance(error, CompilerGymError) else 400
    reason = str(error)[:_MOST_LETTERS] or type(error).__name__
    body = json.dumps({"detail": f"{type(error).__name__}: {reason}"}).encode()
    head = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})
