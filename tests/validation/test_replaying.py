# SPDX-License-Identifier: MIT
"""A replay reaches the recorded state, and what differs is found; the rest is no difference."""

from dataclasses import replace
from typing import Any

import pytest

from compiler_gym.core import CompilerEnvState
from compiler_gym.errors import UnknownNameError
from compiler_gym.spaces import Reward
from compiler_gym.testing import FakeEnv
from compiler_gym.validation import replay, replay_differences

REACHED = CompilerEnvState(
    "benchmark://fake-v0/7", "add", reward=-1.0, reward_space="number", state_hash="8"
)


def played() -> CompilerEnvState:
    with FakeEnv(isolation="in-process", reward_space="number") as env:
        env.reset()
        env.multistep([0, 1])
        return env.state


def test_a_replay_earns_the_recorded_reward_in_its_own_space() -> None:
    state = played()
    with FakeEnv(isolation="in-process") as env:
        replayed = replay(env, state)
        assert env.reward_space is not None
    assert replayed.reward == state.reward == -9
    assert replay_differences(state, replayed) == []


def test_a_reward_of_no_known_space_leaves_the_environment_s_own() -> None:
    state = replace(played(), reward_space="Fame")
    with FakeEnv(isolation="in-process", reward_space="number") as env:
        assert replay(env, state).reward_space == "number"
    with (
        FakeEnv(isolation="in-process") as env,
        pytest.raises(UnknownNameError, match="no program 'x'"),
    ):
        replay(env, replace(state, benchmark="benchmark://fake-v0/x"))


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, []),
        ({"reward": -1.0 - 4e-7}, []),
        ({"reward": -1.0 - 6e-7}, ["the replay earns a different reward"]),
        ({"reward": None}, []),
        ({"reward": 5.0, "reward_space": "other"}, []),
        ({"reward": 5.0, "reward_space": None}, ["the replay earns a different reward"]),
        ({"state_hash": "9"}, ["the replay reaches a different program"]),
        ({"state_hash": None}, []),
        ({"compiler_version": "17"}, []),
        (
            {"reward": 2.0, "state_hash": "9"},
            ["the replay earns a different reward", "the replay reaches a different program"],
        ),
    ],
)
def test_a_difference_is_found(changes: dict[str, Any], found: list[str]) -> None:
    for pair in ((REACHED, replace(REACHED, **changes)), (replace(REACHED, **changes), REACHED)):
        assert [error.type for error in replay_differences(*pair)] == found


def test_large_rewards_are_compared_relatively() -> None:
    large = replace(REACHED, reward=1e12)
    assert replay_differences(large, replace(large, reward=1e12 + 10)) == []
    assert replay_differences(large, replace(large, reward=1e12 + 1e5)) != []


def test_a_reward_that_is_measured_is_not_compared() -> None:
    other = replace(REACHED, reward=-1.001)
    measured = Reward(name="number", observation_spaces=["number"], deterministic=False)
    sure = Reward(name="number", observation_spaces=["number"], deterministic=True)
    assert replay_differences(REACHED, other, {"number": measured}) == []
    assert replay_differences(REACHED, other, {"number": sure}) != []
    assert replay_differences(REACHED, other, {"another": measured}) != []
