# SPDX-License-Identifier: MIT
"""Session classes whose process does not start as it should."""

import os
import resource
import socket
import sys
import time
from typing import Any

from compiler_gym.service import servicer
from compiler_gym.testing import FakeSession


class Exits(FakeSession):
    @classmethod
    def prepare(cls, options: dict[str, str]) -> None:
        sys.exit("not today")


class Dies(FakeSession):
    @classmethod
    def prepare(cls, options: dict[str, str]) -> None:
        os._exit(7)


class Stalls(FakeSession):
    @classmethod
    def prepare(cls, options: dict[str, str]) -> None:
        time.sleep(600)


class Foreign(FakeSession):
    @classmethod
    def prepare(cls, options: dict[str, str]) -> None:
        servicer.PROTOCOL = 99


class Garbles(FakeSession):
    """Writes to every socket of the process, the client's among them."""

    @classmethod
    def prepare(cls, options: dict[str, str]) -> None:
        for descriptor in map(int, os.listdir("/proc/self/fd")):
            try:
                with socket.socket(fileno=os.dup(descriptor)) as sock:
                    sock.sendall((4).to_bytes(8, "little") + b"\xc1\xc1\xc1\xc1")
            except OSError:
                continue


class Lingers(FakeSession):
    """Its copies are slow to begin, when their origin has gone on already."""

    @classmethod
    def prepare(cls, options: dict[str, str]) -> None:
        os.register_at_fork(after_in_child=lambda: time.sleep(0.5))


class Alone(FakeSession):
    """Leaves its worker no process and no file to start another with."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
