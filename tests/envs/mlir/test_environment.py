# SPDX-License-Identifier: MIT
"""Three actions make a product many times as fast, and an episode is known by its script."""

from collections.abc import Callable

import pytest

from compiler_gym.envs.mlir import MlirEnv
from compiler_gym.errors import InvalidActionError

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
    with pytest.raises(InvalidActionError, match="no action"):
        env.commandline_to_actions("// action {")
