# SPDX-License-Identifier: MIT
"""A failure of the compiler is an event of the episode, never an exception of a step."""

from collections.abc import Callable
from typing import NoReturn

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler_gym.errors import (
    CompilerFatalError,
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
from compiler_gym.testing import FakeEnv, FakeSession
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


@pytest.mark.parametrize("space", ["Behaviours", "Menu"])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_a_step_in_this_process_is_the_same_with_and_without_a_request(
    space: str, seed: int
) -> None:
    """With nothing to see `step` asks the session directly; `multistep` never does."""
    calm = ("add", "double", "negate", "nothing", "end", "raise", "fill_disk")
    numbers = [ACTIONS[name] for name in calm]
    with (
        FakeEnv(action_space=space, isolation="in-process") as direct,
        FakeEnv(action_space=space, isolation="in-process") as asked,
    ):
        direct.reset()
        asked.reset()
        direct.action_space.seed(seed)
        generator = np.random.default_rng(seed)
        for _ in range(6):
            sampled = int(direct.action_space.sample())
            action = int(generator.choice(numbers)) if space == "Behaviours" else sampled
            (*one, info), (*other, other_info) = direct.step(action), asked.multistep([action])
            assert one == other
            assert {**info, "error": str(info.get("error"))} == {
                **other_info,
                "error": str(other_info.get("error")),
            }
            assert direct.actions == asked.actions
            assert direct.action_space == asked.action_space
            assert direct.in_episode == asked.in_episode
            if not direct.in_episode:
                break
            assert direct.observation["number"] == asked.observation["number"]


def test_an_interrupt_in_this_process_ends_the_session_and_the_next_episode_starts() -> None:
    with FakeEnv(isolation="in-process") as env:
        env.reset()
        env.step(0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(FakeSession, "apply_action", _interrupted)
            with pytest.raises(KeyboardInterrupt):
                env.step(0)
        *_, truncated, info = env.step(0)
        assert truncated
        assert info["error_type"] == "SessionNotFound"
        env.reset()
        assert env.observation["number"] == 7


def _interrupted(session: FakeSession, action: object) -> NoReturn:
    raise KeyboardInterrupt


def test_several_actions_stop_at_the_end_of_the_episode(make_env: MakeEnv) -> None:
    env = make_env(action_space="Behaviours", observation_space="number")
    env.reset()
    actions = [ACTIONS["add"], ACTIONS["end"], ACTIONS["add"], ACTIONS["add"]]
    number, _, terminated, truncated, _ = env.multistep(actions)
    assert (number, terminated, truncated) == (9, True, False)
    assert env.actions == actions[:2]


def test_no_actions_are_an_observation(make_env: MakeEnv) -> None:
    env = make_env(observation_space="number", reward_space="number")
    env.reset()
    number, reward, terminated, truncated, info = env.multistep([])
    assert (number, reward, terminated, truncated) == (7, 0.0, False, False)
    assert info["action_had_no_effect"]


def test_an_action_without_effect_is_reported(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset()
    effects = [env.step(action)[4]["action_had_no_effect"] for action in (0, 3, 2)]
    assert effects == [False, True, False]
    assert env.multistep([3, 3])[4]["action_had_no_effect"]
    assert not env.multistep([3, 0])[4]["action_had_no_effect"]


def test_a_step_before_reset_says_what_to_do(make_env: MakeEnv) -> None:
    env = make_env()
    with pytest.raises(SessionNotFound, match=r"call reset\(\)"):
        env.step(0)


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
