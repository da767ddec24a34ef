# SPDX-License-Identifier: MIT
"""CompilerGym 0.2.5's wrapper chooses one action in numbers."""

from collections.abc import Callable

import pytest

from compiler_gym.envs.mlir import MlirEnv, make_mlir_rl_wrapper_env
from compiler_gym.errors import InvalidParameterError


def test_a_sampled_action_is_one_step(make_env: Callable[..., MlirEnv]) -> None:
    env = make_env(reward_space="runtime", benchmark="generator://matmul-v0/16_16_16")
    wrapped = make_mlir_rl_wrapper_env(env, 2)
    wrapped.reset()
    wrapped.action_space.seed(3)
    _, reward, terminated, truncated, info = wrapped.step(wrapped.action_space.sample())
    assert terminated, info
    assert not truncated
    assert isinstance(reward, float)


def test_there_are_one_to_four_tilings(make_env: Callable[..., MlirEnv]) -> None:
    with pytest.raises(InvalidParameterError, match="expected 1 to 4"):
        make_mlir_rl_wrapper_env(make_env(), 5)
