# SPDX-License-Identifier: MIT
"""Agents written for the old interface run."""

import sys
from typing import Any

import gymnasium
import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.testing import FakeEnv
from compiler_gym.wrappers import Counter, LegacyGym, TimeLimit
from tests.stand_ins import stand_in

ADD, DOUBLE, NEGATE = 0, 1, 2


class Scaled(gymnasium.RewardWrapper[Any, Any]):
    """A wrapper of Gymnasium with an attribute of its own."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.factor = 100

    def reward(self, reward: Any) -> Any:
        return None if reward is None else self.factor * reward


def test_an_old_agent_runs(env: FakeEnv) -> None:
    old = LegacyGym(TimeLimit(env, 3))
    old.seed(4)
    observation = old.reset("fake-v0/7")
    assert old.observation_space.contains(observation)
    done, steps = False, 0
    reward: Any = None
    info: dict[str, Any] = {}
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


@pytest.mark.parametrize(
    "wrap", [stand_in(lambda env: env), Counter, Scaled, stand_in(lambda env: Counter(Scaled(env)))]
)
def test_an_assignment_reaches_the_environment_inside(env: FakeEnv, wrap: Any) -> None:
    old: Any = LegacyGym(wrap(env))
    old.observation_space = "number"
    old.benchmark = "fake-v0/3"
    old.reward_space = None
    assert old.reset() == 3
    assert old.observation_space == env.observation_space
    assert old.step(ADD)[:2] == (4, None)
    old.action_space = "Behaviours"
    assert old.reset() == 3
    assert "segfault" in env.action_space.names  # type: ignore[attr-defined]  # names, as every space here
    old.episode_reward = 3
    assert env.episode_reward == 3
    with pytest.raises(AttributeError, match="has no setter"):
        old.version = "3"


def test_an_assignment_reaches_the_wrapper_that_has_the_name(env: FakeEnv) -> None:
    limited, scaled = TimeLimit(env, 3), Scaled(env)
    old: Any = LegacyGym(Counter(limited))
    foreign: Any = LegacyGym(scaled)
    old.max_episode_steps = 5
    foreign.factor = 2
    assert (limited.max_episode_steps, scaled.factor) == (5, 2)
    old.note = "mine"
    old.env = limited
    assert old.note == "mine"
    assert not hasattr(limited, "note")
    assert old.env is limited


def test_wrappers_of_gymnasium_see_every_action(env: FakeEnv) -> None:
    old = LegacyGym(Scaled(env))
    old.reset(benchmark="fake-v0/7")
    assert str(old.benchmark) == "benchmark://fake-v0/7"
    assert old.step(ADD, timeout=9)[1] == -100
    assert old.step([ADD, ADD])[1] == -200
    assert old.multistep([ADD])[1] == -100
    assert old.render("ansi") == env.render("ansi")
    with pytest.raises(InvalidParameterError, match="takes no spaces for a single step"):
        old.step(ADD, observation_spaces=["number"])


@pytest.mark.parametrize("wrap", [stand_in(lambda env: env), Scaled])
def test_a_reset_takes_the_old_arguments_in_their_order(env: FakeEnv, wrap: Any) -> None:
    old = LegacyGym(wrap(env))
    assert old.reset("fake-v0/3", "Behaviours", "number", None, 300) == 3
    assert "segfault" in old.action_space.names
    assert env.reward_space is None
    assert old.reset(reward_space="number", options={"benchmark": "fake-v0/4"}) == 4
    assert "segfault" in old.action_space.names
    assert old.step(ADD)[1] is not None


def test_spaces_of_one_step_may_have_their_old_names(env: FakeEnv) -> None:
    old = LegacyGym(env)
    old.reset("fake-v0/7")
    assert old.step(ADD, observations=["number"], rewards=["number"])[:2] == ([8], [-1])
    assert old.step(ADD, ["number"], ["number"])[:2] == ([9], [-1])
    assert old.step([ADD, ADD], observations=["number"])[:2] == ([11], -2)
    assert old.multistep([ADD], observations="number", rewards="number")[:2] == (12, -1)
