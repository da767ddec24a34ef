# SPDX-License-Identifier: MIT
import pytest

from compiler_gym.errors import ExplorerError
from compiler_gym_explorer.server import Server
from compiler_gym_explorer.settings import Settings

from .conftest import serving


def test_its_address_is_the_requested_one_and_holds_the_token() -> None:
    with Server(Settings(token="a b")) as server:
        assert server.settings.port > 0
        assert server.address == f"http://127.0.0.1:{server.settings.port}/?token=a%20b"


def test_a_taken_port_and_a_strange_host_are_refused() -> None:
    with serving() as client, pytest.raises(ExplorerError, match="cannot listen"):
        Server(Settings(port=client.server.settings.port))
    with pytest.raises(ExplorerError, match="cannot listen"):
        Server(Settings(host="no.such.host.invalid"))
