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


@pytest.mark.parametrize("view", ["observation", "reward"])
def test_an_unknown_space_names_those_there_are(make_env: MakeEnv, view: str) -> None:
    env = make_env()
    with pytest.raises(UnknownNameError, match=r"there are .*number"):
        getattr(env, view)["weight"]
    with pytest.raises(AttributeError, match="weight"):
        getattr(env, view).weight  # noqa: B018 - the access is what is tested
