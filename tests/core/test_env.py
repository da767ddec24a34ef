# SPDX-License-Identifier: MIT
"""What users see of an environment: composite actions, parameters, programs, states."""

import pickle
from collections.abc import Callable

import numpy as np
import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.testing import FakeEnv
from compiler_gym.testing.behaviours import BEHAVIOURS

MakeEnv = Callable[..., FakeEnv]
ACTIONS = {name: number for number, name in enumerate(BEHAVIOURS)}


def test_a_composite_action_reaches_the_session_as_plain_values(make_env: MakeEnv) -> None:
    env = make_env(observation_space="number", action_space="Composite")
    env.reset()
    action = {
        "levels": np.array([2, 3]),
        "weights": np.array([0.5, -0.25], dtype=np.float32),
        "order": np.array([3, 1, 0, 2]),
        "pair": (4, 9),
    }
    assert env.step(action)[0] == 7 + (2 + 3) + (4 + 9) + 3 + 25
    assert env.actions == [
        {"levels": [2, 3], "weights": [0.5, -0.25], "order": [3, 1, 0, 2], "pair": [4, 9]}
    ]


def test_an_episode_of_composite_actions_is_replayed(make_env: MakeEnv) -> None:
    env = make_env(observation_space="number", action_space="Composite")
    env.reset()
    env.action_space.seed(3)
    for _ in range(3):
        number = env.step(env.action_space.sample())[0]
    with pickle.loads(pickle.dumps(env)) as twin:
        assert twin.observation["number"] == number
    state = env.state
    other = make_env(action_space="Composite")
    other.apply(state)
    assert other.observation["number"] == number


def test_parameters_are_answered_or_refused(make_env: MakeEnv) -> None:
    env = make_env(observation_space="number")
    env.reset()
    assert env.send_params(("fake.echo", "hello"), ("fake.add", "3")) == ["hello", "10"]
    with pytest.raises(InvalidParameterError, match=r"no parameter 'fake\.unknown'"):
        env.send_param("fake.unknown", "1")
    assert env.in_episode


def test_an_observation_after_a_parameter_is_made_anew(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset()
    assert env.observation["number"] == 7
    env.send_param("fake.add", "3")
    assert env.observation["number"] == 10


def test_random_programs_repeat_with_the_seed(make_env: MakeEnv) -> None:
    env = make_env()
    found = []
    for _ in range(2):
        env.reset(seed=11)
        found.append([str(env.datasets.random_benchmark()) for _ in range(5)])
    assert found[0] == found[1]
