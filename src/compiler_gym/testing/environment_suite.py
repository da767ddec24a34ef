# SPDX-License-Identifier: MIT
# ruff: noqa: D102 - the name of a test is its documentation
"""The test suite for a registered environment."""

import os
import signal
import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, cast

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env

from compiler_gym.core import CompilerEnv
from compiler_gym.registration import make
from compiler_gym.testing.suite import Suite, same

__all__ = ["EnvironmentConformance"]


class EnvironmentConformance(Suite):
    """A test suite to run with pytest, in a subclass that names the environment::

        class TestMyEnvironment(EnvironmentConformance):
            env_id = "mine-v0"
            kwargs = {"observation_space": "Features", "reward_space": "Size"}

    Both spaces must be set, because agents and Gymnasium's checker need them.
    """

    env_id: ClassVar[str]
    """The ID of the environment for `compiler_gym.make`."""
    kwargs: ClassVar[Mapping[str, Any]] = {}
    """The arguments for `compiler_gym.make`."""

    def make_env(self, **arguments: Any) -> CompilerEnv:
        """Return the environment."""
        return make(self.env_id, **{**self.kwargs, **arguments})

    def test_gymnasium_finds_nothing_to_complain_about(self) -> None:
        with self.open() as env, warnings.catch_warnings():
            warnings.simplefilter("error")
            check_env(env)

    def test_the_spec_makes_the_same_environment(self) -> None:
        with self.open() as env:
            assert env.spec is not None
            twin = gymnasium.make(env.spec).unwrapped
            assert isinstance(twin, type(env))
            with twin:
                assert twin.action_space == env.action_space
                assert twin.observation_space == env.observation_space
                assert twin.reward_space == env.reward_space

    def test_a_seed_repeats_the_random_actions(self) -> None:
        with self.open() as env:
            env.reset(seed=5)
            first = [env.action_space.sample() for _ in range(5)]
            env.reset(seed=5)
            assert same([env.action_space.sample() for _ in range(5)], first)

    def test_a_step_returns_what_the_spaces_promise(self) -> None:
        with self.open() as env:
            assert env.observation_space is not None
            observation, info = env.reset(seed=6)
            assert env.observation_space.contains(observation)
            assert isinstance(info, dict)
            earned = 0.0
            for _ in range(self.steps):
                observation, reward, terminated, truncated, info = env.step(
                    env.action_space.sample()
                )
                assert env.observation_space.contains(observation)
                assert isinstance(reward, float)
                assert (type(terminated), type(truncated)) == (bool, bool)
                assert not truncated, info
                earned += reward
                if terminated:
                    break
            assert env.episode_reward is not None
            assert np.isclose(env.episode_reward, earned)

    def test_a_state_is_replayed(self) -> None:
        for env in self.each_action_space():
            for _ in self.walk(env, seed=7):
                pass
            if not env.in_episode or self.has_changed_space(env):
                continue
            state = env.state
            with self.make_env() as replayed:
                replayed.apply(state)
                assert same(self.look(replayed), self.look(env))
                assert replayed.state == state

    def test_a_crash_earns_the_documented_reward(self) -> None:
        with self.open() as env:
            reward_space = env.reward_space
            assert reward_space is not None
            env.reset()
            os.kill(self.worker(env), signal.SIGKILL)
            _, reward, *_ = env.step(env.action_space.sample())
            assert reward == reward_space.reward_on_error(0.0)

    def test_a_text_rendering_is_text(self) -> None:
        with self.make_env(render_mode="ansi") as env:
            env.reset()
            text = env.render()
            assert isinstance(text, str)
            assert text

    def test_every_installed_dataset_has_programs_that_start(self) -> None:
        with self.open() as env:
            for dataset in env.datasets:
                if dataset.installed:
                    env.reset(benchmark=next(iter(dataset.benchmark_uris())))
                    assert env.in_episode

    def test_several_environments_make_a_vector(self) -> None:
        # Gymnasium does not type the spaces of a vector.
        vector = cast(Any, gymnasium.vector.SyncVectorEnv([self.make_env, self.make_env]))
        try:
            observations, _ = vector.reset(seed=8)
            vector.action_space.seed(8)
            for _ in range(3):
                observations, rewards, *_ = vector.step(vector.action_space.sample())
                assert rewards.shape == (2,)
            assert len(observations) >= 1
        finally:
            vector.close()
