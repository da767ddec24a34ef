# SPDX-License-Identifier: MIT
"""A failure of the compiler is an event of the episode, never an exception of a step."""

from collections.abc import Callable

import pytest

from compiler_gym.errors import (
    CompilerFatalError,
    InvalidParameterError,
    ObservationError,
    ServiceOSError,
    SessionError,
    SessionNotFound,
    WorkerCrashedError,
    WorkerOutOfMemoryError,
    WorkerTimeoutError,
)
from compiler_gym.rewards import CostReward
from compiler_gym.service import Limits
from compiler_gym.testing import FakeEnv
from compiler_gym.testing.behaviours import BEHAVIOURS

MakeEnv = Callable[..., FakeEnv]
ACTIONS = {name: number for number, name in enumerate(BEHAVIOURS)}


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        ("segfault", WorkerCrashedError),
        ("abort", WorkerCrashedError),
        ("exit", WorkerCrashedError),
        ("system_exit", SessionError),
        ("hang", WorkerTimeoutError),
        ("exhaust_memory", WorkerOutOfMemoryError),
        ("raise", SessionError),
        ("fatal", CompilerFatalError),
        ("fill_disk", ServiceOSError),
        ("turn_unplain", SessionError),
        ("overflow", SessionError),
    ],
)
def test_a_failure_truncates_the_episode_and_the_next_one_starts(
    behaviour: str, error: type[Exception]
) -> None:
    limits = Limits(step_seconds=60.0, memory_bytes=256 << 20)
    timeout = 0.3 if behaviour == "hang" else None
    with FakeEnv(
        action_space="Behaviours",
        observation_space=["number", "vector", "summary"],
        reward_space="number",
        limits=limits,
    ) as env:
        env.reset()
        env.step(ACTIONS["negate"])
        assert env.episode_reward == 14.0
        observation, reward, terminated, truncated, info = env.step(
            ACTIONS[behaviour], timeout=timeout
        )
        assert (terminated, truncated) == (False, True)
        assert type(info["error"]) is error
        assert info["error_type"] == error.__name__
        assert info["error_details"] == str(info["error"])
        assert info["action_had_no_effect"] is False
        assert env.observation_space is not None
        assert env.observation_space.contains(observation)
        assert reward == -14.0
        assert env.episode_reward == 0.0
        assert not env.in_episode
        with pytest.raises(SessionNotFound, match="reset"):
            env.step(0)
        with pytest.raises(SessionNotFound, match="reset"):
            env.observation["number"]
        assert env.reset()[0]["number"] == 7
        assert env.step(ACTIONS["add"])[0]["number"] == 8


@pytest.mark.parametrize("behaviour", ["raise", "system_exit", "fatal", "fill_disk"])
def test_a_failure_in_this_process_is_the_same_event(behaviour: str) -> None:
    with FakeEnv(
        action_space="Behaviours", observation_space="number", isolation="in-process"
    ) as env:
        env.reset()
        observation, _, _, truncated, info = env.step(ACTIONS[behaviour])
        assert (observation, truncated) == (0, True)
        assert info["error_type"] in ("SessionError", "CompilerFatalError", "ServiceOSError")
        assert env.reset()[0] == 7


def test_the_actions_up_to_the_failure_are_kept(make_env: MakeEnv) -> None:
    env = make_env(action_space="Behaviours")
    env.reset()
    names = ["add", "double", "raise", "add", "add"]
    *_, truncated, _ = env.multistep([ACTIONS[name] for name in names])
    assert truncated
    assert env.actions == [ACTIONS[name] for name in names[:3]]


def test_an_observation_that_cannot_be_made_truncates_a_step(make_env: MakeEnv) -> None:
    env = make_env(observation_space="unavailable", action_space="Behaviours")
    assert env.reset()[0] == 7.0
    observation, _, _, truncated, info = env.step(ACTIONS["negate"])
    assert (observation, truncated) == (0, True)
    assert isinstance(info["error"], ObservationError)


def test_an_observation_that_cannot_be_made_is_raised_when_asked_for(make_env: MakeEnv) -> None:
    env = make_env(action_space="Behaviours")
    env.reset()
    env.step(ACTIONS["negate"])
    with pytest.raises(ObservationError, match="negative"):
        env.observation["unavailable"]
    assert env.observation["number"] == -7


def test_a_reward_on_error_can_be_a_fixed_number(make_env: MakeEnv) -> None:
    env = make_env(action_space="Behaviours")
    penalty = CostReward("penalty", cost="number", initial="number", platform_dependent=False)
    penalty.default_value, penalty.default_negates_returns = -5, False
    env.reset(reward_space=penalty)
    env.step(ACTIONS["negate"])
    assert env.step(ACTIONS["raise"])[1] == -5.0
    assert env.episode_reward == 9.0


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
