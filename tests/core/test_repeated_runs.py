# SPDX-License-Identifier: MIT
"""How often programs are run is a setting of the episode, told to every session."""

import pickle
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest

from compiler_gym.core import RunnableEnv
from compiler_gym.datasets import Benchmark
from compiler_gym.errors import InvalidParameterError
from compiler_gym.service import SessionSource
from compiler_gym.testing import FakeSession

SETTINGS = ("runtime_observation_count", "runtime_warmup_runs_count")


class Told(FakeSession):
    """Notes every parameter that sessions are told, in this process."""

    told: ClassVar[list[tuple[str, str]]] = []

    def handle_session_parameter(self, key: str, value: str) -> str | None:
        self.told.append((key, value))
        return value if key.startswith("limits.") else super().handle_session_parameter(key, value)


@pytest.fixture
def env() -> Iterator[RunnableEnv]:
    Told.told.clear()
    source = SessionSource(f"{Told.__module__}:{Told.__name__}")
    with RunnableEnv(source, isolation="in-process") as made:
        made.benchmark = program()
        yield made


def program() -> Benchmark:
    return Benchmark("benchmark://user-v0/7", b"7")


def told() -> dict[str, float]:
    """Return what was told since the last call."""
    last = {key: float(value) for key, value in Told.told}
    Told.told.clear()
    return {key: value for key, value in last.items() if "runtime" in key}


def test_a_program_runs_once_and_at_once_by_default(env: RunnableEnv) -> None:
    assert (env.runtime_observation_count, env.runtime_warmup_runs_count) == (1, 0)
    env.reset()
    assert told() == {}


def test_a_setting_is_sent_at_once_and_at_every_start(env: RunnableEnv) -> None:
    env.runtime_observation_count = 3
    assert told() == {}, "no session is there to be told"
    env.reset()
    assert told() == {"limits.runtime_observation_count": 3.0}
    env.runtime_warmup_runs_count = np.int64(2)  # type: ignore[assignment]  # it counts, too
    assert told() == {"limits.runtime_warmup_runs_count": 2.0}
    assert type(env.runtime_warmup_runs_count) is int
    env.reset()
    assert told() == {
        "limits.runtime_observation_count": 3.0,
        "limits.runtime_warmup_runs_count": 2.0,
    }


def test_copies_have_the_setting_and_their_own(env: RunnableEnv) -> None:
    env.runtime_observation_count = 3
    env.reset()
    with env.fork() as fork, pickle.loads(pickle.dumps(env)) as far:
        assert told() == {"limits.runtime_observation_count": 3.0}, "each is replayed"
        fork.runtime_observation_count = 5
        counts = [each.runtime_observation_count for each in (env, fork, far)]
        assert counts == [3, 5, 3]


@pytest.mark.parametrize(("setting", "least"), [(SETTINGS[0], 1), (SETTINGS[1], 0)])
@pytest.mark.parametrize("value", [None, "3", 1.0, -1])
def test_an_invalid_number_of_runs_is_refused(
    env: RunnableEnv, setting: str, least: int, value: Any
) -> None:
    match = f"{setting} must be a whole number of at least {least}"
    with pytest.raises(InvalidParameterError, match=match):
        setattr(env, setting, value)
    with pytest.raises(InvalidParameterError, match=rf"{setting} .* \(got {least - 1}\)"):
        setattr(env, setting, least - 1)
    setattr(env, setting, least)
    assert getattr(env, setting) == least
