# SPDX-License-Identifier: MIT
"""Environments over the fake session, closed at the end of a test."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from compiler_gym.testing import FakeEnv


@pytest.fixture(params=["process", "in-process"])
def make_env(request: pytest.FixtureRequest) -> Iterator[Callable[..., FakeEnv]]:
    """Make fake environments, in both isolations."""
    made: list[FakeEnv] = []

    def make(**arguments: Any) -> FakeEnv:
        made.append(FakeEnv(**{"isolation": request.param, **arguments}))
        return made[-1]

    yield make
    for env in made:
        env.close()
