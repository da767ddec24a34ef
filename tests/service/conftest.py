# SPDX-License-Identifier: MIT
"""Workers and environments of the fake session, closed at the end of a test."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from compiler_gym.service import Limits, SessionSource, WorkerConnection
from compiler_gym.testing import FakeEnv
from service.workers import FAKE, start


@pytest.fixture
def open_worker() -> Iterator[Callable[..., WorkerConnection]]:
    """Open connections to workers, in an episode."""
    opened: list[WorkerConnection] = []

    def open_one(
        source: SessionSource = FAKE, *, limits: Limits | None = None, started: bool = True
    ) -> WorkerConnection:
        connection = WorkerConnection.open(source, limits or Limits(step_seconds=30.0))
        opened.append(connection)
        if started:
            connection.call(start())
        return connection

    yield open_one
    for connection in opened:
        connection.close()


@pytest.fixture
def make_env() -> Iterator[Callable[..., FakeEnv]]:
    """Make fake environments that can misbehave."""
    made: list[FakeEnv] = []

    def make(**arguments: Any) -> FakeEnv:
        usual: dict[str, Any] = {"observation_space": "number", "action_space": "Behaviours"}
        made.append(FakeEnv(**usual | arguments))
        return made[-1]

    yield make
    for env in made:
        env.close()
