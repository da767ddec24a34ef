# SPDX-License-Identifier: MIT
from compiler_gym_explorer.settings import Settings


def test_every_server_has_its_own_token_and_stays_on_this_machine() -> None:
    one, other = Settings(), Settings()
    assert one.token != other.token
    assert len(one.token) >= 32
    assert one.host == "127.0.0.1"
