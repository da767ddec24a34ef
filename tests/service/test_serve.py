# SPDX-License-Identifier: MIT
"""A session class as a program: it passes the suite for sessions, and says what it needs."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from compiler_gym.datasets import Benchmark
from compiler_gym.service import SessionSource
from compiler_gym.service.serve import open_session_socket
from compiler_gym.testing import SessionConformance

SERVE = (sys.executable, "-m", "compiler_gym.service.serve")


@pytest.mark.slow
class TestFakeSessionAsAProgram(SessionConformance):
    source = SessionSource.of_program([*SERVE, "compiler_gym.testing.fakes:FakeSession"])
    steps = 3
    programs = (Benchmark("benchmark://fake-v0/7", b"7"),)
    bad_programs = (b"seven",)
    action_spaces = ("Safe", "Menu")
    observations = ("number", "digits", "vector", "summary", "file")


@pytest.mark.parametrize(
    ("arguments", "variables", "said"),
    [
        ([], {}, "must be started by compiler_gym"),
        (["no_such_module:X"], {"COMPILER_GYM_SESSION": "fd:3"}, "No module named"),
        (
            ["compiler_gym.testing.fakes:FakeSession", "refuse=no gcc here"],
            {"COMPILER_GYM_SESSION": "fd:3"},
            "FakeSession: no gcc here",
        ),
    ],
)
def test_an_unusable_session_gives_the_reason(
    arguments: list[str], variables: dict[str, str], said: str
) -> None:
    done = subprocess.run(
        [*SERVE, *arguments],
        env={**os.environ, "COMPILER_GYM_SCRATCH": "/tmp", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert said in done.stderr


def test_the_socket_is_found_by_its_number_and_by_its_path(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        with open_session_socket(f"unix:{tmp_path}/s") as connected:
            accepted, _ = listener.accept()
            accepted.sendall(b"a")
            assert connected.recv(1) == b"a"
            accepted.close()
    with ours, theirs, open_session_socket(f"fd:{theirs.fileno()}") as found:
        ours.sendall(b"b")
        assert found.recv(1) == b"b"
