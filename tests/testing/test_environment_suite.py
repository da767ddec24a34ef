# SPDX-License-Identifier: MIT
"""The fake environment passes the suite for environments."""

from collections.abc import Iterator
from typing import ClassVar

import gymnasium
import pytest

from compiler_gym.testing import EnvironmentConformance


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
