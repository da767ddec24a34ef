# SPDX-License-Identifier: MIT
import pytest

from compiler_gym.errors import ExplorerError
from compiler_gym.explorer.guard import Guard

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
    with pytest.raises(ExplorerError, match="expected") as refused:
        guard.check_names(headers)
    assert refused.value.status == 403


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
