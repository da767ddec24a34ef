# SPDX-License-Identifier: MIT
"""CompilerGym 0.2.5's wrapper chooses one action in numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.spaces import Box, NamedDiscrete
from compiler_gym_mlir import MlirEnv, convert_action, make_mlir_rl_wrapper_env


def test_a_sampled_action_is_one_step(make_env: Callable[..., MlirEnv]) -> None:
    env = make_env(reward_space="runtime", benchmark="generator://matmul-v0/16_16_16")
    wrapped = make_mlir_rl_wrapper_env(env, 2)
    wrapped.reset()
    wrapped.action_space.seed(3)
    _, reward, terminated, truncated, info = wrapped.step(wrapped.action_space.sample())
    assert terminated, info
    assert not truncated
    assert isinstance(reward, float)


def test_its_spaces_are_those_of_0_2_5(make_env: Callable[..., MlirEnv]) -> None:
    wrapped = make_mlir_rl_wrapper_env(make_env(benchmark="generator://matmul-v0/16_16_16"))
    assert wrapped.observation_space == Box(0, np.inf, "Runtime", (1,), np.float64)
    spaces: Any = wrapped.action_space
    first, *others = spaces
    assert len(others) == 3
    for other in others:
        assert other["is_present"] == NamedDiscrete(["False", "True"], "is_present")
        assert other["space"] == first
    tile = first["tile_options"]
    assert tile["interchange_vector"].n == 6
    assert tile["tile_sizes"][2].names == [str(2**power) for power in range(11)]
    assert first["vectorize_options"]["vectorize_to"].names == ["dot", "matmul", "outer_product"]


def test_it_observes_and_earns_its_run_time(make_env: Callable[..., MlirEnv]) -> None:
    wrapped = make_mlir_rl_wrapper_env(make_env(benchmark="generator://matmul-v0/16_16_16"))
    wrapped.action_space.seed(123)
    observation, reward, terminated, *_ = wrapped.step(wrapped.action_space.sample())  # no reset
    assert terminated
    assert observation.shape == (1,)
    assert observation[0] > 0
    assert reward == -observation[0]
    assert wrapped.reset()[0] == [0.0]


def test_missing_operations_are_left_out() -> None:
    vectors = {"vectorize_to": 2, "vector_transfer_split": 1, "unroll_vector_transfers": 1}
    tile = {
        "interchange_vector": 5, "tile_sizes": [1, 3, 9], "promote": 1, "promote_full_tile": 0,
        "loop_type": 1,
    }  # fmt: skip
    first = {"tile_options": tile, "vectorize_options": vectors}
    (made,) = convert_action([first, {"is_present": 0}])
    assert made["tile_options"]["tile_sizes"] == [2, 8, 512]
    assert made["tile_options"]["interchange_vector"] == [2, 1, 0]
    assert made["tile_options"]["promote"] is True
    assert len(convert_action([first, {"is_present": 1, "space": first}])) == 2


def test_there_are_one_to_four_tilings(make_env: Callable[..., MlirEnv]) -> None:
    with pytest.raises(InvalidParameterError, match="must be 1 to 4"):
        make_mlir_rl_wrapper_env(make_env(), 5)
