# SPDX-License-Identifier: MIT
"""Three actions make a product many times as fast, and an episode is known by its script."""

from collections.abc import Callable

import pytest

from compiler_gym.errors import InvalidActionError, InvalidParameterError
from compiler_gym_mlir import MlirEnv

MakeEnv = Callable[..., MlirEnv]


def test_two_actions_of_the_list_are_many_times_as_fast(make_env: MakeEnv) -> None:
    env = make_env(benchmark="linalg-v0/matmul/128x128x128", reward_space="LogSpeedup")
    env.reset()
    for name in ("block-8x32x4", "vectorize-operation", "stop"):
        *_, terminated, truncated, info = env.step(env.action_space[name])
        assert not truncated, info
    assert terminated
    assert env.episode_reward is not None
    assert env.episode_reward > 1  # measured: 4; a busy machine may say less


def test_a_script_leads_back_to_its_actions(make_env: MakeEnv) -> None:
    env = make_env(benchmark="linalg-v0/matmul/16x32x8")
    env.reset()
    env.multistep([env.action_space["block-4x16x4"], env.action_space["vectorize-operation"]])
    assert env.commandline_to_actions(env.commandline()) == env.actions
    with pytest.raises(InvalidActionError, match="cannot read an action"):
        env.commandline_to_actions("// action {")


def test_the_number_of_timed_runs_lasts_over_resets(make_env: Callable[..., MlirEnv]) -> None:
    env = make_env(benchmark="generator://matmul-v0/16_16_16")
    env.runtime_observation_count = 3
    for _ in range(2):
        env.reset()
        assert len(env.observation["Runtime"]) == 3
        assert env.send_param("mlir.get_runtimes_per_observation_count", "") == "3"
    env.send_param("mlir.set_runtimes_per_observation_count", "2")
    env.send_param("mlir.set_warmup_runs_count_per_runtime_observation", "1")
    assert env.send_param("mlir.get_warmup_runs_count_per_runtime_observation", "") == "1"
    assert len(env.observation["Runtime"]) == 2
    for wrong in ("0", "x", "1.5", "nan", "inf"):
        with pytest.raises(InvalidParameterError, match="must be a whole number of at least 1"):
            env.send_param("mlir.set_runtimes_per_observation_count", wrong)
