# SPDX-License-Identifier: MIT
"""The three wrappers to derive from convert what is theirs, and nothing else."""

from typing import Any

import gymnasium
import numpy as np
import pytest

from compiler_gym.errors import InvalidActionError
from compiler_gym.spaces import Discrete
from compiler_gym.testing import FakeEnv
from compiler_gym.wrappers import ActionWrapper, ObservationWrapper, RewardWrapper


class Mirrored(ActionWrapper):
    """Numbers the safe actions from the other end."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.action_space = Discrete(3, "mirrored")

    def action(self, action: Any) -> int:
        return 2 - int(action)

    def reverse_action(self, action: Any) -> int:
        return 2 - action


class Signs(ObservationWrapper):
    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.observation_space = gymnasium.spaces.Box(-1, 1, (3,), np.int64)

    def convert_observation(self, observation: Any) -> Any:
        return np.sign(observation)


class Scaled(RewardWrapper):
    def convert_reward(self, reward: Any) -> float:
        return 3 * reward


def test_actions_are_converted_both_ways(env: FakeEnv) -> None:
    with Mirrored(env) as wrapped:
        wrapped.reset(seed=1)
        wrapped.multistep([2, 1])
        assert env.actions == [0, 1]
        assert wrapped.actions == [2, 1]
        assert wrapped.commandline() == "add double"
        assert wrapped.commandline_to_actions("negate add") == [0, 2]


def test_an_action_outside_the_wrappers_space_is_refused(env: FakeEnv) -> None:
    with Mirrored(env) as wrapped:
        wrapped.reset()
        with pytest.raises(InvalidActionError, match="3"):
            wrapped.step(3)
        assert env.actions == []


def test_a_seed_also_seeds_the_wrappers_own_actions(env: FakeEnv) -> None:
    with Mirrored(env) as wrapped:
        draws: list[list[Any]] = []
        for _ in range(2):
            wrapped.reset(seed=5)
            draws.append([wrapped.action_space.sample() for _ in range(8)])
        assert draws[0] == draws[1]


def test_observations_are_converted_unless_requested_by_name(env: FakeEnv) -> None:
    with Signs(env) as wrapped:
        observation, _ = wrapped.reset(benchmark="fake-v0/7")
        assert observation.tolist() == [1, 1, 1]
        assert wrapped.step(2)[0].tolist() == [-1, 1, -1]
        assert wrapped.step(0, ["number"])[0] == [-6]
        space = wrapped.observation_space
        assert space is not None
        assert space.contains(observation)
        wrapped.observation_space = "number"
        assert wrapped.observation_space == env.observation_space


def test_rewards_are_converted_and_added_up(env: FakeEnv) -> None:
    with Scaled(env) as wrapped:
        wrapped.reset(benchmark="fake-v0/7")
        assert wrapped.step(0)[1] == -3
        assert wrapped.step(0, reward_spaces="number")[1] == -1
        assert wrapped.step(0)[1] == -3
        assert wrapped.episode_reward == -6
        wrapped.reset()
        assert wrapped.episode_reward == 0
        wrapped.reset(reward_space=None)
        assert wrapped.step(0)[1] is None
        assert wrapped.episode_reward is None


def test_a_wrapper_without_its_conversion_reports_it(env: FakeEnv) -> None:
    for wrapper, method in (
        (ObservationWrapper, "convert_observation"),
        (RewardWrapper, "convert_reward"),
    ):
        with pytest.raises(TypeError, match=rf"abstract method '?{method}'?$"):
            wrapper(env)  # pyright: ignore[reportAbstractUsage]  # that is refused here

    with pytest.raises(NotImplementedError, match=r"ActionWrapper does not define action\(\)"):
        ActionWrapper(env).multistep([0])

    class OneWay(ActionWrapper):
        def action(self, action: Any) -> Any:
            return action

    with pytest.raises(NotImplementedError, match=r"does not define reverse_action\(\)"):
        OneWay(env).reverse_action(0)
