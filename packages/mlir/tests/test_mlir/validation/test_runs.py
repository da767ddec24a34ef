# SPDX-License-Identifier: MIT
"""A schedule is validated by a replay and a run."""

from collections.abc import Callable

from compiler_gym_mlir import MlirEnv


def test_a_good_schedule_is_valid(make_env: Callable[..., MlirEnv]) -> None:
    env = make_env(action_space="ScriptLines", benchmark="linalg-v0/matmul/16x32x8")
    env.reset()
    env.step("tile matmul0 4 16 4")
    env.step("vectorize matmul0")
    result = env.validate()
    assert result.okay(), result
    assert result.benchmark_semantics_validated
