# SPDX-License-Identifier: MIT
"""Agents written for the old interface run."""

import sys
from typing import Any

from compiler_gym.testing import FakeEnv
from compiler_gym.wrappers import LegacyGym, TimeLimit

ADD, DOUBLE, NEGATE = 0, 1, 2


def test_an_old_agent_runs(env: FakeEnv) -> None:
    old = LegacyGym(TimeLimit(env, 3))
    old.seed(4)
    observation = old.reset("fake-v0/7")
    assert old.observation_space.contains(observation)
    done, steps = False, 0
    while not done:
        observation, reward, done, info = old.step(old.action_space.sample())
        steps += 1
    assert steps == 3
    assert info["TimeLimit.truncated"] is True
    assert isinstance(reward, float)
    assert "gym" not in sys.modules


def test_several_actions_may_be_one_step(env: FakeEnv) -> None:
    old = LegacyGym(env)
    old.reset(benchmark="fake-v0/7")
    assert old.step([ADD, DOUBLE])[1] == -9
    assert old.multistep([NEGATE])[1] == 32
    with old.fork() as fork:
        fork.step(ADD)
        assert fork.actions == [ADD, DOUBLE, NEGATE, ADD]
    assert old.actions == [ADD, DOUBLE, NEGATE]


def test_a_failure_is_done_and_no_time_limit(make_env: Any) -> None:
    old = LegacyGym(make_env(action_space="Behaviours"))
    old.reset()
    _, _, done, info = old.step(old.action_space["segfault"])
    assert done
    assert info["TimeLimit.truncated"] is False
    assert info["error_type"] == "WorkerCrashedError"
    assert old.unwrapped is old.env
