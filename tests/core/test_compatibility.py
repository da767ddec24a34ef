# SPDX-License-Identifier: MIT
"""What code that was written for CompilerGym 0.2.5 sets, compares and hands over."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import compiler_gym
from compiler_gym.core import CompilerEnv, DerivedObservation
from compiler_gym.datasets import Benchmark
from compiler_gym.errors import (
    InvalidActionError,
    InvalidParameterError,
    SessionNotFound,
    UnknownNameError,
)
from compiler_gym.service import SessionSource
from compiler_gym.spaces import Box, Reward, Scalar
from compiler_gym.testing import FakeEnv
from compiler_gym.wrappers import (
    CompilerEnvWrapper,
    ConstrainedCommandline,
    RewardWrapper,
    TimeLimit,
)
from tests.stand_ins import stand_in

MakeEnv = Callable[..., FakeEnv]
ADD = 0


class Halved(RewardWrapper):
    """Earns half."""

    def convert_reward(self, reward: float) -> float:
        return reward / 2


def twice(value: Any) -> Any:
    return 2 * value


@pytest.fixture(params=["bare", "wrapped", "converted"])
def env(request: pytest.FixtureRequest, make_env: MakeEnv) -> Any:
    made = make_env()
    around = {"wrapped": CompilerEnvWrapper, "converted": Halved}
    return TimeLimit(around[request.param](made), 99) if request.param != "bare" else made


def test_a_spec_equals_its_name(env: Any) -> None:
    assert env.observation_space_spec is None
    env.observation_space = "number"
    assert env.observation_space_spec == "number"
    assert env.observation_space_spec != "digits"
    assert {env.observation_space_spec} == {"number"}
    with env.fork() as fork:
        assert fork.observation_space_spec == env.observation_space_spec
    env.reward_space = "number"
    assert env.reward_space_spec == "number"


def test_specs_are_set_by_name_or_as_they_are(env: Any) -> None:
    env.observation_space_spec = "number"
    assert env.reset()[0] == 7
    env.observation_space_spec = env.observation.spaces["digits"]
    assert env.reset()[0] == "7"
    env.reward_space_spec = "number"
    assert env.reward_space == "number"
    env.reward_space_spec = env.reward.spaces["number"]
    assert env.reward_space == "number"
    env.observation_space_spec = env.reward_space_spec = None
    assert (env.observation_space, env.reward_space) == (None, None)
    with pytest.raises(UnknownNameError, match="no observation space 'numbers'"):
        env.observation_space_spec = "numbers"


def test_a_spec_that_was_derived_by_hand_can_be_observed(env: Any) -> None:
    derived = env.observation.spaces["number"].make_derived_space("twice", twice)
    env.observation_space_spec = derived
    assert env.reset()[0] == 14
    assert env.observation["twice"] == 14
    again = derived.make_derived_space("again", stand_in(lambda value: value + 1))
    assert env.multistep([], observation_spaces=[again, "number"])[0] == [15, 7]
    assert "again" not in env.observation
    with env.fork() as fork:
        assert fork.multistep([])[0] == 14


def test_the_reward_of_an_episode_can_be_set(env: Any) -> None:
    with pytest.raises(SessionNotFound, match=r"call reset\(\) first"):
        env.episode_reward = 1
    env.reset(reward_space="number")
    assert env.episode_reward == 0
    env.episode_reward = 10
    assert env.episode_reward == 10
    reward = env.step(ADD)[1]
    assert reward
    assert env.episode_reward == 10 + reward
    env.reset()
    assert env.episode_reward == 0


def test_the_reward_of_an_episode_starts_when_its_space_is_set(env: Any) -> None:
    env.reset()
    assert env.episode_reward is None
    env.reward_space = "number"
    assert env.episode_reward == 0
    earned = [env.step(ADD)[1] for _ in range(3)]
    assert sum(earned) != 0
    assert env.episode_reward == sum(earned)
    env.reward_space = "number"
    assert env.episode_reward == sum(earned), "it is the same reward"
    env.reward_space = Reward("none", default_value=3)
    assert env.episode_reward == 0
    env.reward_space = None
    assert env.episode_reward is None


def test_derived_observations_are_given_as_dictionaries() -> None:
    given: dict[str, Any] = {"id": "twice", "base_id": "number", "translate": twice}
    space = Scalar("twice", min=0, dtype=int)
    source = SessionSource("compiler_gym.testing.fakes:FakeSession")
    several = [given, {**given, "id": "2", "space": space}]
    with CompilerEnv(source, derived_observation_spaces=several) as env:
        program = Benchmark("benchmark://fake-v0/7", b"7")
        env.reset(benchmark=program, observation_space=["twice", "2"])
        assert env.step(ADD)[0] == {"twice": 16, "2": 16}
        assert env.observation.spaces["2"].space is space
    assert DerivedObservation.of(DerivedObservation("a", "b", twice)).id == "a"
    for wrong in ({"id": "twice", "base_id": "number"}, {**given, "shape": 3}):
        with pytest.raises(InvalidParameterError, match="needs id, base_id and translate"):
            CompilerEnv(source, derived_observation_spaces=[wrong])


@pytest.mark.parametrize("several", [[0, 1], (0, 1), np.array([0, 1])])
def test_several_actions_in_one_step_are_referred_to_multistep(env: Any, several: Any) -> None:
    env.reset()
    with pytest.raises(InvalidActionError, match=r"use multistep\(\["):
        env.step(several)
    assert env.actions == []
    for wrong in ([0, 1000], [], ["add"], [[0]], "add"):
        with pytest.raises(InvalidActionError) as failure:
            env.step(wrong)
        assert "multistep(" not in str(failure.value)


def test_an_unknown_name_is_a_missing_key(env: Any) -> None:
    env.reset()
    for view in (env.observation, env.reward):
        with pytest.raises(KeyError, match=r"space 'autophase'; there (are|is) number"):
            view["autophase"]
    with pytest.raises(LookupError):
        env.reward_space = "autophase"
    assert env.observation.get("autophase") is None


@pytest.mark.parametrize("timeout", [float("nan"), "9", -1, [1]])
def test_a_timeout_that_is_not_a_number_of_seconds_is_refused(
    make_env: MakeEnv, timeout: Any
) -> None:
    env = make_env()
    env.reset()
    for ask in (
        lambda: env.reset(timeout=timeout),
        lambda: env.step(ADD, timeout=timeout),
        lambda: env.multistep([ADD], timeout=timeout),
    ):
        with pytest.raises(InvalidParameterError, match="a number of seconds >= 0"):
            ask()
    env.step(ADD, timeout=float("inf"))


@pytest.mark.parametrize("actions", [ADD, "add"])
def test_one_action_is_not_a_list_of_actions(make_env: MakeEnv, actions: Any) -> None:
    env = make_env()
    env.reset()
    with pytest.raises(InvalidActionError, match=r"is not a list of actions: .*step\(\.\.\.\)"):
        env.multistep(actions)


def test_a_text_is_not_a_state(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset()
    with pytest.raises(InvalidParameterError, match="pass a CompilerEnvState"):
        env.apply("benchmark://a-v0/b")  # type: ignore[arg-type]  # what is tested


def test_an_unknown_attribute_of_a_view_gets_the_nearest_names(make_env: MakeEnv) -> None:
    env = make_env()
    with pytest.raises(AttributeError, match="no observation space 'numbr': did you mean number"):
        env.observation.numbr()
    with pytest.raises(AttributeError, match="no reward space 'nothing'; there is number"):
        env.reward.nothing()


@pytest.fixture
def llvm() -> Iterator[Any]:
    with compiler_gym.make(
        "llvm-v0", benchmark="cbench-v1/crc32", reward_space="IrInstructionCount"
    ) as env:
        yield env


def test_a_fork_before_the_first_reset_begins_an_episode_in_both(llvm: Any) -> None:
    with llvm.fork() as fork:
        assert llvm.in_episode
        assert fork.in_episode
        assert fork.step(0)[1:2] == llvm.step(0)[1:2]


def test_a_fork_of_a_closed_environment_goes_on_where_it_was(llvm: Any) -> None:
    llvm.reset()
    llvm.step(3)
    assert llvm.service is not None
    llvm.close()
    assert llvm.service is None
    assert not llvm.in_episode
    assert llvm.actions == [3]
    with llvm.fork() as fork:
        assert llvm.actions == fork.actions == [3]
        assert fork.observation["IrSha1"] == llvm.observation["IrSha1"]
        fork.step(4)
    llvm.close()
    llvm.reset()
    assert llvm.actions == []


def test_a_fork_of_a_wrapper_before_the_first_reset_begins_its_episode_too(llvm: Any) -> None:
    with TimeLimit(llvm, 2) as limited, limited.fork() as fork:
        for env in (limited, fork):
            assert not env.step(0)[3]
            assert env.step(0)[3]


def test_a_fork_of_a_closed_wrapper_has_the_actions_of_the_wrapper(llvm: Any) -> None:
    with ConstrainedCommandline(llvm, ["sroa", "licm"]) as env:
        env.reset()
        env.step(1)
        env.close()
        with env.fork() as fork:
            assert env.actions == fork.actions == [1]
            assert llvm.actions == [llvm.action_space["licm"]]


def test_without_a_program_a_fork_begins_nothing() -> None:
    env = FakeEnv()
    env.default_benchmark = None  # type: ignore[misc]  # of this one
    with env, env.fork() as fork:
        assert fork.in_episode == env.in_episode


def test_the_space_of_a_spec_can_be_replaced(llvm: Any) -> None:
    llvm.observation_space = "Autophase"
    smaller = Box(0, 10, "smaller", (2,), np.int64)
    llvm.observation_space_spec.space = smaller
    assert llvm.observation_space == smaller
    llvm.observation_space = ["Autophase", "IrInstructionCount"]
    both: Any = llvm.observation_space
    assert both["Autophase"] == smaller
