# SPDX-License-Identifier: MIT
"""Where Gymnasium finds the vector form of an environment."""

import threading
from typing import Any

import pytest
from gymnasium.vector import AutoresetMode

import compiler_gym
from compiler_gym.errors import InvalidParameterError
from compiler_gym.spaces import FunctionReward
from compiler_gym.testing import FakeEnv
from compiler_gym.vector import CompilerVectorEnv, entry
from compiler_gym.vector.entry import make_vector
from compiler_gym.wrappers import TimeLimit


def test_make_vec_takes_wrappers_and_arguments_of_both() -> None:
    with compiler_gym.make_vec(
        "llvm-autophase-ic-v0",
        num_envs=2,
        wrappers=[lambda env: TimeLimit(env, 2)],
        autoreset_mode="SameStep",
        benchmark="cbench-v1/crc32",
    ) as vector:
        vector.reset(seed=1)
        vector.step([0, 1])
        assert "final_obs" in vector.step([0, 1])[-1]


def test_arguments_go_to_where_they_belong() -> None:
    with make_vector(
        FakeEnv,
        num_envs=2,
        observation_space="packed",
        reward_space="number",
        benchmark="benchmark://fake-v0/3",
        autoreset_mode="SameStep",
        max_episode_steps=2,
        copy=False,
        sampler=["benchmark://fake-v0/4"],
    ) as vector:
        assert (vector.num_envs, vector.max_episode_steps, vector.copy) == (2, 2, False)
        assert vector.autoreset_mode is AutoresetMode.SAME_STEP
        assert vector.reset()[0][:, 0].tolist() == [4, 4]
        assert vector.envs[0] is not vector.envs[1]


def test_an_argument_of_neither_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="no argument 'colour'"):
        make_vector(FakeEnv, colour="red")


def test_vectors_are_made_from_an_environments_name() -> None:
    make: Any = getattr(entry, "compiler_gym.testing.fake_environment.FakeEnv")
    with make(num_envs=3, observation_space="packed", reward_space="number") as vector:
        assert type(vector) is CompilerVectorEnv
        assert [type(env) for env in vector.envs] == [FakeEnv] * 3


def test_an_unknown_name_is_not_found() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'FakeEnv'"):
        getattr(entry, "FakeEnv")  # noqa: B009 - as Gymnasium does
    with pytest.raises(AttributeError, match="has no attribute 'NoEnv'"):
        getattr(entry, "compiler_gym.testing.fake_environment.NoEnv")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        getattr(entry, "no_such_module.Env")


def test_rows_and_environments_that_are_made_with_one_reward_have_it_each() -> None:
    reward = FunctionReward("Fewer", "IrInstructionCount", lambda before, now: before - now)
    options: dict[str, Any] = {"benchmark": "cbench-v1/crc32", "reward_space": reward}
    with compiler_gym.make_vec("llvm-autophase-ic-v0", num_envs=3, **options) as vector:
        vector.reset(seed=0)
        space: Any = vector.single_action_space
        sroa = space["sroa"]
        rows = vector.step([sroa] * 3)[1]
        assert rows[0] > 0
        assert rows.tolist() == [rows[0]] * 3
    with (
        compiler_gym.make("llvm-v0", rewards=[reward], **options) as one,
        compiler_gym.make("llvm-v0", rewards=[reward], **options) as other,
    ):
        one.reset()
        other.reset()
        assert [env.step(env.action_space["sroa"])[1] for env in (one, other)] == [rows[0]] * 2
    assert reward.previous is None


def test_a_reward_that_cannot_be_copied_is_refused() -> None:
    reward = FunctionReward("Fewer", "number", lambda before, now: before - now)
    reward.lock = threading.Lock()  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(InvalidParameterError, match=r"cannot copy a reward: .*lock"):
        FakeEnv(reward_space=reward)
