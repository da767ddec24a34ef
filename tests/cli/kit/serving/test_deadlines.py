# SPDX-License-Identifier: MIT
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from compiler_gym.cli.kit.serving import server_settings
from compiler_gym.testing import wait_until

HEAD = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n"


async def answer_slowly(scope: Any, receive: Any, send: Any) -> None:
    """Read the body, and take longer to answer than a request may take to arrive."""
    import asyncio

    while (await receive()).get("more_body"):
        pass
    await asyncio.sleep(1.5)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"late"})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    settings = server_settings(request_seconds=0.5)
    server = uvicorn.Server(
        uvicorn.Config(answer_slowly, port=0, lifespan="off", log_config=None, **settings)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join(30)


def exchange(port: int, data: bytes) -> bytes:
    """Send `data` and return all that comes back until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.settimeout(30)
        connection.sendall(data)
        return b"".join(iter(lambda: connection.recv(4096), b""))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PO",
        HEAD,
        HEAD + b"Content-Length: 9\r\n\r\n{",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{",
    ],
    ids=["nothing", "half a line", "half a head", "half a body", "half of the chunks"],
)
def test_a_request_that_does_not_arrive_in_time_is_closed(port: int, data: bytes) -> None:
    assert b"late" not in exchange(port, data)


def test_a_second_request_that_stops_half_way_is_closed_too(port: int) -> None:
    whole = HEAD + b"Content-Length: 0\r\n\r\n"
    assert exchange(port, whole + HEAD).count(b"late") == 1


def test_the_time_of_an_answer_does_not_count(port: int) -> None:
    assert b"late" in exchange(port, HEAD + b"Connection: close\r\nContent-Length: 0\r\n\r\n")
