# SPDX-License-Identifier: MIT
"""Observations and rewards: chosen, on demand, derived."""

from collections.abc import Callable

import numpy as np
import pytest

from compiler_gym.errors import UnknownNameError
from compiler_gym.rewards import CostReward
from compiler_gym.testing import FakeEnv

MakeEnv = Callable[..., FakeEnv]


def test_every_observation_can_be_asked_for(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset()
    assert env.observation["number"] == env.observation.number() == 7
    assert env.observation["vector"].tolist() == [7, 49, 1]
    assert env.observation["vector"].dtype == np.int64
    assert env.observation["summary"] == {"even": 0, "text": "7"}
    assert env.observation["blob"] == b"7 bytes"[:0] + bytes(7)
    assert env.observation["half"] == 3


def test_a_list_of_spaces_gives_a_dictionary(make_env: MakeEnv) -> None:
    env = make_env(observation_space=["digits", "half"])
    assert env.reset()[0] == {"digits": "7", "half": 3}
    assert env.step(0)[0] == {"digits": "8", "half": 4}


def test_a_step_may_ask_for_other_spaces(make_env: MakeEnv) -> None:
    env = make_env(observation_space="number", reward_space="number")
    env.reset()
    observations, rewards, *_ = env.step(
        0, observation_spaces=["half", "digits"], reward_spaces=["number"]
    )
    assert observations == [4, "8"]
    assert rewards == [-1.0]
    assert env.step(0, observation_spaces="digits")[0] == "9"
    assert env.step(0)[0] == 10


def test_an_array_belongs_to_who_asked_for_it(make_env: MakeEnv) -> None:
    env = make_env(observation_space="vector")
    first, _ = env.reset()
    first[:] = 0
    assert env.observation["vector"].tolist() == [7, 49, 1]


def test_what_is_not_deterministic_is_made_anew(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset()
    assert env.observation["clock"] < env.observation["clock"]


def test_a_derived_space_can_be_added(make_env: MakeEnv) -> None:
    env = make_env()
    env.observation.add_derived_space("double", "half", lambda half: 2 * half, default_value=-1)
    env.reset(observation_space="double")
    assert env.step(0)[0] == 8
    assert env.observation.spec("double").default_value == -1
    with env.fork() as fork:
        assert fork.observation["double"] == 8


def test_rewards_on_demand_count_from_the_last_time(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset()
    env.observation["number"]
    env.step(2)
    env.reward.add_space(
        CostReward("late", cost="number", initial="number", platform_dependent=False)
    )
    assert env.reward["late"] == 0.0
    env.step(0)
    assert env.reward["late"] == -1.0
    assert env.reward.late() == 0.0


def test_the_rewards_of_an_episode_are_summed(make_env: MakeEnv) -> None:
    env = make_env(reward_space="number")
    env.reset()
    assert env.episode_reward == 0.0
    rewards = [env.step(action)[1] for action in (0, 2, 0)]
    assert rewards == [-1.0, 16.0, -1.0]
    assert env.episode_reward == 14.0
    with env.fork() as fork:
        fork.step(0)
        assert (fork.episode_reward, env.episode_reward) == (13.0, 14.0)


@pytest.mark.parametrize("view", ["observation", "reward"])
def test_an_unknown_space_names_those_there_are(make_env: MakeEnv, view: str) -> None:
    env = make_env()
    with pytest.raises(UnknownNameError, match=r"there are .*number"):
        getattr(env, view)["weight"]
    with pytest.raises(AttributeError, match="weight"):
        getattr(env, view).weight  # noqa: B018 - the access is what is tested


def test_random_programs_repeat_with_the_seed(make_env: MakeEnv) -> None:
    env = make_env()
    found = []
    for _ in range(2):
        env.reset(seed=11)
        found.append([str(env.datasets.random_benchmark()) for _ in range(5)])
    assert found[0] == found[1]
