# SPDX-License-Identifier: MIT
import socket

import pytest

from compiler_gym.cli.kit.serving.guard import Guard
from compiler_gym.errors import ExplorerError

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
