# SPDX-License-Identifier: MIT
"""The web application: serves the API of the table of routes, and the built page.

Needs the extra ``web``; it is imported on use.
"""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route as StarletteRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from compiler_gym.cli.kit.serving import Guard, choose_status
from compiler_gym.errors import CompilerGymError, ExplorerError
from compiler_gym_explorer.api import Api, Asked
from compiler_gym_explorer.log import Log
from compiler_gym_explorer.problems import make_problem
from compiler_gym_explorer.routes import ROUTES, Parameter, Route

__all__ = ["STATIC", "make_app"]

STATIC = Path(__file__).with_name("static")
"""The folder of the built front end."""
_log = logging.getLogger(__name__)
_THREADS = 24
_MOST_DIGITS = 15
_LOOK_SECONDS = 5.0
_SECURITY = {
    "Content-Security-Policy": "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; "
    "worker-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_REPORT_SECURITY = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}
"""Headers for reports, which are untrusted files: no scripts and no external resources."""
_NO_PAGE = (
    "The page is not built: explorer/static/index.html is missing from the package. "
    "The API is available at /api."
)


def make_app(api: Api, static: Path = STATIC) -> Starlette:
    """Return the application, which closes `api` when it ends."""
    settings = api.settings
    guard = Guard(settings.token, [settings.host])
    # A permanent pool, because a worker ends with the thread that started it.
    pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="explorer")

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        cleanup = asyncio.create_task(_close_idle(api))
        try:
            yield
        finally:
            cleanup.cancel()
            await asyncio.to_thread(api.close)
            pool.shutdown(wait=True, cancel_futures=True)

    async def serve_page(request: Request) -> Response:
        guard.check_names(request.headers)
        return _file(static, request.path_params.get("path", ""))

    async def serve_report(request: Request) -> Response:
        guard.check_names(request.headers)
        guard.check_token(request.headers, request.query_params.get("token"))
        if settings.report is None or not settings.report.is_file():
            raise ExplorerError(
                "no report to show; start the server with `compiler-gym web REPORT.html`",
                status=404,
            )
        return FileResponse(settings.report, headers=_SECURITY | _REPORT_SECURITY)

    routes = [_make_route(route, api, guard, pool) for route in ROUTES]
    handlers: Any = {Exception: _refuse, CompilerGymError: _refuse}
    return Starlette(
        routes=[
            *routes,
            StarletteRoute("/report", serve_report, methods=["GET"]),
            StarletteRoute("/", serve_page, methods=["GET"]),
            StarletteRoute("/{path:path}", serve_page, methods=["GET"]),
        ],
        exception_handlers=handlers,
        middleware=[Middleware(_UnreadBodies)],
        lifespan=lifespan,
    )


class _UnreadBodies:
    """Middleware that closes a connection if the request's body was not read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        headers = dict(scope.get("headers", ()))
        length = headers.get(b"content-length", b"0")
        is_read = b"transfer-encoding" not in headers and length == b"0"

        async def receive_message() -> Message:
            nonlocal is_read
            message = await receive()
            is_read = is_read or not message.get("more_body", False)
            return message

        async def send_message(message: Message) -> None:
            if message["type"] == "http.response.start" and not is_read:
                message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
            await send(message)

        await self._app(scope, receive_message, send_message)


def _make_route(route: Route, api: Api, guard: Guard, pool: ThreadPoolExecutor) -> StarletteRoute:
    call: Any = getattr(api, route.name)

    async def serve(request: Request) -> Response:
        guard.check_names(request.headers)
        guard.check_token(request.headers, request.query_params.get("token"))
        asked = Asked(
            path=_path_value(request),
            query={p.name: _query_value(p, request) for p in route.query},
            body=await _body(request, route, api.settings.most_body_bytes),
        )
        loop = asyncio.get_running_loop()
        answer = await loop.run_in_executor(pool, call, asked)
        if route.is_stream:
            log, first = answer
            return _stream(log, _first(request, first))
        if route.answer is None:
            return Response(status_code=route.status, headers=_SECURITY)
        return _json_response(answer, route.status)

    return StarletteRoute(route.path, serve, methods=[route.method])


def _path_value(request: Request) -> dict[str, Any]:
    values = dict(request.path_params)
    if "node" in values:
        if not re.fullmatch(r"\d{1,9}", values["node"]):
            raise ExplorerError(f"node is {values['node']!r:.100}: expected a number", status=404)
        values["node"] = int(values["node"])
    return values


def _query_value(parameter: Parameter, request: Request) -> Any:
    text = request.query_params.get(parameter.name)
    if text is None:
        if parameter.required:
            raise ExplorerError(f"{parameter.name} is missing: expected ?{parameter.name}=")
        return parameter.default
    try:
        return msgspec.convert(text, parameter.type, strict=False)
    except msgspec.ValidationError:
        expected = {int: "a number", bool: "true or false"}.get(parameter.type, "text")
        raise ExplorerError(f"{parameter.name} is {text!r:.100}: expected {expected}") from None


async def _body(request: Request, route: Route, most: int) -> Any:
    """Return the body as a record; stop reading if it is too long."""
    if route.body is None:
        return None
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ExplorerError(f"content type is {kind!r:.100}: expected application/json", status=415)
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and (len(declared) > _MOST_DIGITS or int(declared) > most):
        raise _too_long(most)
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > most:
            raise _too_long(most)
    try:
        return msgspec.json.decode(bytes(data), type=route.body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ExplorerError(f"the body is not a valid {route.body.__name__}: {error}") from error


def _too_long(most: int) -> ExplorerError:
    return ExplorerError(
        f"the body is longer than {most:,} bytes, the maximum",
        status=413,
        next="give the path of a file on this machine",
    )


def _first(request: Request, first: int) -> int:
    """Return the number of the first event to send, after the last that the client received."""
    last = request.headers.get("last-event-id", "")
    return int(last) + 1 if re.fullmatch(r"\d{1,12}", last) else first


def _stream(log: Log, first: int) -> StreamingResponse:
    async def lines() -> AsyncGenerator[bytes]:
        yield b": here\n\n"
        async for entry in log.read(first):
            if entry is None:
                yield b": still here\n\n"
                continue
            number, event = entry
            data = msgspec.json.encode(event)
            yield b"id: %d\nevent: %s\ndata: %s\n\n" % (number, event.kind.encode(), data)
        yield b"event: end\ndata: {}\n\n"

    headers = {**_SECURITY, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(lines(), media_type="text/event-stream", headers=headers)


def _json_response(answer: Any, status: int) -> Response:
    headers = {**_SECURITY, "Cache-Control": "no-store"}
    data = msgspec.json.encode(answer)
    return Response(data, status, headers, media_type="application/json")


async def _refuse(request: Request, error: Exception) -> Response:
    if isinstance(error, ClientDisconnect):
        return Response(status_code=499)
    return _json_response(make_problem(error), choose_status(error))


def _file(static: Path, path: str) -> Response:
    if path.startswith("api/"):
        raise ExplorerError(
            f"there is no route /{path}; the schema lists those below /api", status=404
        )
    file = _find_built(static.resolve(), path or "index.html")
    if file is None:
        if path:
            return PlainTextResponse("no such file\n", 404, _SECURITY)
        return PlainTextResponse(f"{_NO_PAGE}\n", 404, _SECURITY)
    # Built assets have a digest in their names, but index.html has not.
    cache = "max-age=31536000, immutable" if "/assets/" in f"/{path}" else "no-cache"
    return FileResponse(file, headers={**_SECURITY, "Cache-Control": cache})


def _find_built(root: Path, path: str) -> Path | None:
    """Return a file of the built front end, or None if it does not exist."""
    try:
        file = (root / path).resolve()
        return file if file.is_relative_to(root) and file.is_file() else None
    except (OSError, ValueError):  # too long, or with a NUL
        return None


async def _close_idle(api: Api) -> None:
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        try:
            await asyncio.to_thread(api.registry.close_idle)
        except Exception:  # the next round may succeed
            _log.exception("cannot close idle sessions")
