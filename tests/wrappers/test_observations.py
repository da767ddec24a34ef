# SPDX-License-Identifier: MIT
"""Extra observations join what is there, stay in their space and flatten."""

from typing import Any

import gymnasium
import numpy as np
import pytest

import compiler_gym
from compiler_gym.errors import InvalidParameterError
from compiler_gym.testing import FakeEnv
from compiler_gym.wrappers import ActionHistory, LogCounts, StepBudget, TimeLimit


def test_the_last_actions_are_seen_the_newest_last(env: FakeEnv) -> None:
    seeing = ActionHistory(env, length=3)
    observation, _ = seeing.reset()
    assert observation["action_history"].tolist() == [5, 5, 5]
    assert seeing.step(2)[0]["action_history"].tolist() == [5, 5, 2]
    assert seeing.multistep([0, 1, 3])[0]["action_history"].tolist() == [0, 1, 3]
    assert seeing.observation_space.contains(seeing.step(4)[0])
    assert seeing.reset()[0]["action_history"].tolist() == [5, 5, 5]


def test_the_share_of_steps_left_falls_to_nothing(env: FakeEnv) -> None:
    seeing = StepBudget(TimeLimit(env, 4))
    assert seeing.reset()[0]["steps_left"] == [1.0]
    shares = [seeing.step(0)[0]["steps_left"][0] for _ in range(4)]
    assert shares == [0.75, 0.5, 0.25, 0.0]
    assert seeing.step(0)[0]["steps_left"] == [0.0]
    assert StepBudget(env, 10).reset()[0]["steps_left"] == [1.0]


def test_extras_join_each_other_and_any_observation(make_env: Any) -> None:
    for space, keys in (
        ("vector", {"observation"}),
        (["number", "digits"], {"number", "digits"}),
        (None, set[str]()),
    ):
        stack = ActionHistory(StepBudget(make_env(observation_space=space), 5), 2)
        observation, _ = stack.reset()
        assert set(observation) == keys | {"action_history", "steps_left"}
        assert stack.observation_space.contains(observation)
        assert stack.observation_space.contains(stack.step(1)[0])


def test_a_fork_has_its_own_history(env: FakeEnv) -> None:
    seeing = ActionHistory(env, 2)
    seeing.reset()
    seeing.step(0)
    with seeing.fork() as fork:
        assert fork.step(1)[0]["action_history"].tolist() == [0, 1]
    assert seeing.step(2)[0]["action_history"].tolist() == [0, 2]


def test_a_value_requested_by_name_is_unchanged(env: FakeEnv) -> None:
    stack = StepBudget(ActionHistory(env, 2), 5)
    stack.reset(benchmark="fake-v0/7")
    assert stack.step(0, ["number"])[0] == [8]
    assert stack.step(0)[0]["action_history"].tolist() == [0, 0]


def test_the_same_extra_twice_is_refused(env: FakeEnv) -> None:
    with pytest.raises(InvalidParameterError, match="already"):
        _ = StepBudget(StepBudget(env, 2), 3).observation_space


def test_senseless_options_are_refused(make_env: Any) -> None:
    with pytest.raises(InvalidParameterError, match="length must be at least 1"):
        ActionHistory(make_env(), 0)
    with pytest.raises(InvalidParameterError, match="numbered actions"):
        ActionHistory(make_env(action_space="Composite"))
    with pytest.raises(InvalidParameterError, match="wrap a TimeLimit"):
        StepBudget(make_env())
    with pytest.raises(InvalidParameterError, match="non-negative numbers"):
        _ = LogCounts(make_env()).observation_space


def test_everything_flattens_to_one_vector_for_a_network() -> None:
    base = compiler_gym.make("llvm-autophase-ic-v0", benchmark="cbench-v1/crc32")
    stack = StepBudget(ActionHistory(TimeLimit(LogCounts(base), 5), 3))
    with gymnasium.wrappers.FlattenObservation(stack) as flat:
        observation, _ = flat.reset(seed=1)
        assert flat.observation_space.shape == (56 + 3 * 124 + 1,)
        assert flat.observation_space.contains(observation)
        for _ in range(5):
            observation, *_ = flat.step(flat.action_space.sample())
            assert flat.observation_space.contains(observation)
            assert np.isfinite(observation).all()
            assert observation.max() < 30
