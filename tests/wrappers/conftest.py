# SPDX-License-Identifier: MIT
"""Fake environments to wrap, closed at the end of a test."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from compiler_gym.testing import FakeEnv


@pytest.fixture
def make_env() -> Iterator[Callable[..., FakeEnv]]:
    """Make fake environments that observe and earn."""
    made: list[Any] = []

    def make(**arguments: Any) -> FakeEnv:
        chosen: dict[str, Any] = {
            "observation_space": "vector",
            "reward_space": "number",
            **arguments,
        }
        made.append(FakeEnv(**chosen))
        return made[-1]

    yield make
    for env in made:
        env.close()


@pytest.fixture
def env(make_env: Callable[..., FakeEnv]) -> FakeEnv:
    """A fake environment."""
    return make_env()
