# SPDX-License-Identifier: MIT
"""Addresses that nobody answers at are told from those that somebody does."""

import socket
import time
from collections.abc import Iterator

import pytest

from compiler_gym.datasets.fetching.reachable import unreachable


@pytest.fixture
def address() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/file"


@pytest.fixture
def closed() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}/file"


def test_one_that_answers_is_enough(address: str, closed: str) -> None:
    assert unreachable([closed, address]) == []


def test_each_that_refuses_is_named_at_once(closed: str) -> None:
    began = time.monotonic()
    (line,) = unreachable([closed], seconds=300.0)
    assert line.startswith(f"{closed}: cannot connect to 127.0.0.1")
    assert line.endswith("is this machine offline?")
    assert time.monotonic() - began < 120


def test_an_address_that_names_no_host_is_for_the_transfer(closed: str) -> None:
    assert unreachable([closed, "file:///nowhere"]) == []
