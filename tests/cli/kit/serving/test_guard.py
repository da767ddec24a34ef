# SPDX-License-Identifier: MIT
"""Requests of strangers, bodies that are too long and other formats are rejected."""

import socket
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from compiler_gym import errors
from compiler_gym.cli.kit.serving import Gate, Guard, choose_status
from compiler_gym.cli.kit.serving.guard import MOST_BODY_BYTES
from compiler_gym.errors import ExplorerError, UnknownNameError

guard = Guard("token", ["192.0.2.7", "2001:db8::1"])


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "127.0.0.1:80"},
        {"host": "LOCALHOST:80"},
        {"host": "192.0.2.7"},
        {"host": "[2001:db8::1]:80"},
        {"host": "localhost:80", "origin": "http://localhost:80"},
        {"host": "localhost:80", "sec-fetch-site": "none", "sec-fetch-mode": "navigate"},
        {"host": "localhost:80", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
    ],
)
def test_our_own_names_pass(headers: dict[str, str]) -> None:
    guard.check_names(headers)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"host": ""},
        {"host": "192.0.2.8"},
        {"host": "[::2]"},
        {"host": "localhost.example"},
        {"host": "localhost:80", "origin": "http://localhost:81"},
        {"host": "localhost:80", "origin": "null"},
        {"host": "localhost:80", "origin": "file://"},
        {"host": "localhost:80", "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"},
    ],
)
def test_other_names_do_not(headers: dict[str, str]) -> None:
    with pytest.raises(ExplorerError, match="not allowed") as refused:
        guard.check_names(headers)
    assert refused.value.status == 403


@pytest.mark.parametrize("everywhere", ["0.0.0.0", "::", ""])
def test_a_server_for_other_machines_has_its_numbers_and_its_name(everywhere: str) -> None:
    everyone = Guard("token", [everywhere])
    name = socket.gethostname()
    short = name.partition(".")[0]
    for host in ("192.0.2.8", "[2001:db8::2]", name, name.upper(), short, f"{short}.local"):
        everyone.check_names({"host": f"{host}:80", "origin": f"http://{host}:80"})
        with pytest.raises(ExplorerError, match="not allowed"):
            everyone.check_names({"host": f"{host}:80", "origin": "http://192.0.2.9:80"})
    for host in ("evil.example", f"{short}.evil.example", "192.0.2.8.evil.example", "", "[", "a@1"):
        with pytest.raises(ExplorerError, match="--host"):
            everyone.check_names({"host": host})


@pytest.mark.parametrize("local", ["127.0.0.1", "localhost", "::1"])
def test_a_server_for_this_machine_has_no_other_name(local: str) -> None:
    for host in ("192.0.2.8", "0.0.0.0", "[::]", socket.gethostname()):
        with pytest.raises(ExplorerError, match=r"host .* is not allowed"):
            Guard("token", [local]).check_names({"host": host})


@pytest.mark.parametrize("origin", ["http://[", "http://]", "://", "http://localhost:80@x", "\0"])
def test_an_origin_that_is_none_is_refused(origin: str) -> None:
    with pytest.raises(ExplorerError, match="not allowed"):
        guard.check_names({"host": "localhost:80", "origin": origin})


def test_a_token_is_compared_whole() -> None:
    guard.check_token({"authorization": "bearer token"}, None)
    guard.check_token({}, "token")
    for headers, in_query in (
        ({}, None),
        ({}, ""),
        ({}, "toke"),
        ({}, "tökén"),
        ({"authorization": "Bearer"}, None),
        ({"authorization": "Bearer wrong"}, "token"),
    ):
        with pytest.raises(ExplorerError, match="token is missing or wrong"):
            guard.check_token(headers, in_query)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.ExplorerError("x", status=418), 418),
        (errors.UnknownNameError("x"), 404),
        (errors.BenchmarkNotFoundError("x"), 404),
        (errors.BenchmarkInitError("x"), 400),
        (errors.InvalidActionError("x"), 400),
        (errors.ObservationError("x"), 422),
        (errors.WorkerTimeoutError("x"), 504),
        (errors.WorkerCrashedError("x"), 502),
        (RuntimeError("x"), 500),
    ],
)
def test_the_status_says_whose_fault_it_is(error: Exception, status: int) -> None:
    assert choose_status(error) == status


class Application:
    """Answers with the length of a body, or raises what it is given."""

    error: Exception | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            assert (await receive())["type"] == "websocket.connect"
            await send({"type": "websocket.accept"})
            while (message := await receive())["type"] == "websocket.receive":
                await send({"type": "websocket.send", "text": message["text"]})
            await send({"type": "websocket.close", "code": message["code"]})
            return
        if self.error is not None:
            raise self.error
        body = (await receive())["body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"%d" % len(body)})


def gated(error: Exception | None = None, idle_seconds: float = 60.0) -> TestClient:
    app = Application()
    app.error = error
    gate: Any = Gate(app, Guard("", ()), idle_seconds)
    return TestClient(gate, base_url="http://127.0.0.1")


OURS = {"Host": "127.0.0.1"}
ODD_BODIES = {
    "cut short": b"{",
    "other bytes": b"\xff",
    "deep lists": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
    "a huge integer": b'{"seed":1' + b"0" * 5_000 + b"}",
    "not a number": b'{"seed":NaN}',
    "infinity": b'{"seed":Infinity}',
    "too large for a float": b'{"seed":1e999}',
    "half a character": b'{"task":"\\ud800"}',
}


@pytest.mark.parametrize("body", ODD_BODIES.values(), ids=ODD_BODIES)
def test_a_body_that_is_not_plain_json_is_refused(body: bytes) -> None:
    client = gated()
    answer = client.post("/", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert "cannot be read as JSON" in answer.json()["detail"]


@pytest.mark.parametrize("kind", ["", "text/plain", "multipart/form-data", "application/x-json"])
def test_another_type_of_content_is_refused(kind: str) -> None:
    client = gated()
    answer = client.post("/", content=b"{}", headers={"Content-Type": kind})
    assert answer.status_code == 415
    assert "application/json" in answer.json()["detail"]


def test_a_body_that_is_too_long_is_refused_however_it_is_sent() -> None:
    kind = {"Content-Type": "application/json"}
    long = b'"' + b"a" * MOST_BODY_BYTES + b'"'
    client = gated()
    assert client.post("/", content=long, headers=kind).status_code == 413
    for length in ("9" * 30, "9" * 5_000):
        declared = {**kind, "Content-Length": length}
        assert client.post("/", content=b"", headers=declared).status_code == 413
    assert client.post("/", content=long[:100] + b'"', headers=kind).text == "101"
    assert client.get("/").text == "0"


@pytest.mark.parametrize(
    ("error", "status"),
    [(UnknownNameError("no such task"), 404), (TypeError("unhashable"), 400), (KeyError("a"), 400)],
)
def test_an_error_of_the_application_is_answered(error: Exception, status: int) -> None:
    client = gated(error)
    answer = client.get("/")
    assert answer.status_code == status
    assert type(error).__name__ in answer.json()["detail"]


def test_a_defect_of_the_application_is_left_to_the_server() -> None:
    client = gated(ZeroDivisionError("a defect"))
    with pytest.raises(ZeroDivisionError, match="a"):
        client.get("/")


@pytest.mark.parametrize(
    "head", [{"Host": "evil.example"}, {**OURS, "Origin": "http://evil.example"}]
)
def test_a_foreign_page_reaches_neither_requests_nor_web_sockets(head: dict[str, str]) -> None:
    client = gated()
    assert client.post("/", headers=head).status_code == 403
    with (
        pytest.raises(WebSocketDisconnect, check=lambda error: error.code == 1008),
        client.websocket_connect("/ws", headers=head),
    ):
        pass


def test_a_web_socket_that_sends_nothing_is_closed() -> None:
    with gated(idle_seconds=0.1).websocket_connect("/ws", headers=OURS) as connection:
        message = connection.receive()
    assert (message["type"], message["code"]) == ("websocket.close", 1001)


@pytest.mark.parametrize("text", ["[]", "3", "", '{"a":NaN}', '{"a":' * 5_000 + "1" + "}" * 5_000])
def test_a_web_socket_that_sends_odd_json_is_closed_with_a_reason(text: str) -> None:
    with gated().websocket_connect("/ws", headers=OURS) as connection:
        connection.send_text('{"type": "state"}')
        assert "state" in connection.receive_text()
        connection.send_text("a typo: the application answers it")
        assert "typo" in connection.receive_text()
        connection.send_text(text)
        message = connection.receive()
    assert (message["type"], message["code"]) == ("websocket.close", 1007)
    assert message["reason"]
