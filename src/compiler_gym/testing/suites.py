# SPDX-License-Identifier: MIT
# ruff: noqa: D102 - the name of a test is its documentation
"""The test suites of a registered environment, and of a session class without its own."""

import os
import signal
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from compiler_gym.core import CompilerEnv, plain_from_value, space_from_spec
from compiler_gym.datasets import Benchmark
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.registration import make
from compiler_gym.service import SessionSource
from compiler_gym.service.zygote import prepare_session_class
from compiler_gym.session import ActionSpaceSpec, BenchmarkSpec, CompilerSession
from compiler_gym.testing.suite import Suite, same


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


_PLAIN_TYPES = (bool, int, float, str, bytes, type(None))


class SessionConformance(Suite):
    """A test suite to run with pytest, in a subclass that names a session and programs::

        class TestMySession(SessionConformance):
            source = SessionSource("my_compiler.session:MySession")
            programs = (Benchmark("benchmark://mine-v0/1", b"..."),)

    If the session's command lines have their own style, also name the `environment` that supports
    it.
    """

    source: ClassVar[SessionSource]
    """The session to test."""
    environment: ClassVar[type[CompilerEnv]] = CompilerEnv
    """The environment class for the tests."""
    programs: ClassVar[Sequence[Benchmark]]
    """Programs that the session can read; at least one."""
    bad_programs: ClassVar[Sequence[bytes]] = ()
    """Contents that the session must refuse."""

    def make_env(self, **arguments: Any) -> CompilerEnv:
        """Return an environment for the session."""
        return self.environment(self.source, benchmark=self.programs[0], **arguments)

    def reset(self, env: CompilerEnv) -> None:
        """Start an episode on the first program."""
        env.reset(benchmark=self.programs[0])

    def test_every_program_can_be_read(self) -> None:
        with self.open() as env:
            for program in self.programs:
                env.reset(benchmark=program)
                assert self.look(env)

    def test_a_bad_program_is_refused_and_harms_nothing(self) -> None:
        with self.open() as env:
            for contents in self.bad_programs:
                with pytest.raises(BenchmarkInitError, match=r"\w"):
                    env.reset(benchmark=Benchmark("benchmark://conformance-v0/bad", contents))
                self.reset(env)
                assert env.in_episode

    def test_returned_values_are_plain(self, tmp_path: Path) -> None:
        if self.source.command:
            pytest.skip("a program can only send plain values")
        for session, action_space in self.sessions(tmp_path):
            styles = self.environment.command_line_styles
            space = space_from_spec(action_space.space, action_space.name, styles=styles)
            space.seed(21)
            end, new_space = False, None
            for _ in range(self.steps):
                for name in self.observations or [s.name for s in session.observation_spaces]:
                    assert is_plain(session.get_observation(name)), name
                if end or new_space is not None:
                    break
                action = plain_from_value(space, space.sample())
                end, new_space, no_effect = session.apply_action(action)
                assert isinstance(end, bool)
                assert isinstance(no_effect, bool)
                assert new_space is None or isinstance(new_space, ActionSpaceSpec)
            session.close()

    def sessions(self, directory: Path) -> Iterator[tuple[CompilerSession, ActionSpaceSpec]]:
        """Yield a session in this process for each action space, and its initial action space."""
        session_class = prepare_session_class(self.source.session, dict(self.source.options))
        program = self.programs[0]
        benchmark = BenchmarkSpec(
            str(program.uri), program.contents, dict(program.parameters), program.encode_run()
        )
        for space in session_class.action_spaces:
            if self.action_spaces is None or space.name in self.action_spaces:
                session = session_class(directory / space.name, space, benchmark)
                yield session, session.initial_action_space or space


def is_plain(value: Any) -> bool:
    """Return True if `value` can be sent between processes unchanged."""
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[Any]", value)
        return all(map(is_plain, items))
    if isinstance(value, dict):
        table = cast("dict[Any, Any]", value)
        return all(isinstance(key, str) and is_plain(item) for key, item in table.items())
    return isinstance(value, _PLAIN_TYPES) and not isinstance(value, np.generic)
