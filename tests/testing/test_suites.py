# SPDX-License-Identifier: MIT
"""The suites pass for a good compiler, and are collected by pytest."""

from collections.abc import Iterator
from typing import ClassVar

import gymnasium
import pytest

from compiler_gym.datasets import Benchmark
from compiler_gym.service import SessionSource
from compiler_gym.testing import EnvironmentConformance, SessionConformance


@pytest.fixture(scope="module", autouse=True)
def registered() -> Iterator[None]:
    gymnasium.register(  # pyright: ignore[reportUnknownMemberType]  # Gymnasium leaves some arguments untyped
        "fake-v0",
        entry_point="compiler_gym.testing.fake_environment:FakeEnv",
        disable_env_checker=True,
        order_enforce=False,
    )
    yield
    del gymnasium.registry["fake-v0"]


class TestFakeEnvironment(EnvironmentConformance):
    env_id = "fake-v0"
    kwargs: ClassVar = {"observation_space": "vector", "reward_space": "number"}
    action_spaces = ("Safe", "Composite", "Menu")
    observations = ("number", "digits", "vector", "summary", "json", "half")


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
