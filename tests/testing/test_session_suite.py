# SPDX-License-Identifier: MIT
"""The fake session passes the suite for sessions."""

from compiler_gym.datasets import Benchmark
from compiler_gym.service import SessionSource
from compiler_gym.testing import SessionConformance

FAKES = "compiler_gym.testing.fakes"


class TestFakeSession(SessionConformance):
    source = SessionSource(f"{FAKES}:FakeSession")
    steps = 4
    programs = tuple(
        Benchmark(f"benchmark://fake-v0/{number}", str(number).encode()) for number in (7, 0, -3)
    )
    bad_programs = (b"", b"seven", bytes(range(256)))
    action_spaces = ("Safe", "Composite", "Menu")
    observations = ("number", "digits", "vector", "summary", "json", "process", "file")


class TestUnforkableSession(TestFakeSession):
    source = SessionSource(f"{FAKES}:UnforkableSession")
    steps = 2
    action_spaces = ("Safe", "Menu")
