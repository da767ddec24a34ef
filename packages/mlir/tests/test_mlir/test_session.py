# SPDX-License-Identifier: MIT
"""Actions without a meaning have no effect, and the session says why."""

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

from compiler_gym.errors import CompilerGymError
from compiler_gym.testing import is_running, wait_until, worker_pid
from compiler_gym_mlir import MlirEnv, make_mlir_rl_wrapper_env

MakeEnv = Callable[..., MlirEnv]


def test_a_masked_action_does_nothing_and_gives_the_reason(make_env: MakeEnv) -> None:
    env = make_env(benchmark="linalg-v0/matmul/16x32x8")
    env.reset()
    masked = int((~env.action_masks()).argmax())
    *_, info = env.step(masked)
    assert info["action_had_no_effect"]
    assert env.refusal()


def test_the_type_in_the_address_is_run(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset(benchmark="linalg-v0/maxpool/1x2x6x6x2x2?type=f64")
    assert "f64" in env.observation["PayloadText"]
    assert env.observation["IsRunnable"]


def test_a_bad_line_is_an_error_in_mlirs_words(make_env: MakeEnv) -> None:
    env = make_env(action_space="ScriptLines", benchmark="linalg-v0/matmul/16x32x8")
    for line, why in (("unroll matmul0 2", "a parent op"), ("tile gone0 1", "no operation")):
        env.reset()
        env.step("parallel matmul0 8 8 0")
        try:
            *_, truncated, info = env.step(line)
            error: Any = info["error"]
            assert truncated
        except CompilerGymError as raised:
            error = raised
        assert why in str(error)


def test_the_actions_that_are_left_change(make_env: MakeEnv) -> None:
    env = make_env(action_space="LegalMoves", benchmark="linalg-v0/matmul/16x32x8")
    env.reset()
    names = list(env.action_space.names)
    assert "tile matmul0 4 16 4" in names
    env.step(names.index("tile matmul0 4 16 4"))
    assert "vectorize matmul0" in env.action_space.names


@pytest.mark.parametrize("vectorise", [0, 1, 2])
def test_the_old_action_is_one_step(make_env: MakeEnv, vectorise: int) -> None:
    env = make_env(action_space="MatrixMultiplication", reward_space="runtime")
    env.reset()
    tile = {"tile_sizes": [8, 32, 4], "interchange_vector": [0, 1, 2], "promote": False,
            "promote_full_tile": False, "loop_type": 0}  # fmt: skip
    vectors = {
        "vectorize_to": vectorise,
        "vector_transfer_split": 0,
        "unroll_vector_transfers": True,
    }
    _, reward, terminated, truncated, info = env.step(
        [{"tile_options": tile, "vectorize_options": vectors}]
    )
    assert terminated, info
    assert not truncated
    assert isinstance(reward, float)
    assert len(env.observation["Runtime"]) == 1


def test_the_documented_session_of_the_old_environment_runs(make_env: MakeEnv) -> None:
    env = make_env(reward_space="runtime", observation_space="Runtime")
    env.reset(benchmark="generator://matmul-v0/64_64_64")
    wrapped = make_mlir_rl_wrapper_env(env, max_subactions=2)
    wrapped.reset()
    wrapped.action_space.seed(5)
    for _ in range(2):
        observation, reward, terminated, truncated, _ = wrapped.step(wrapped.action_space.sample())
        assert terminated or truncated
        if not truncated:
            assert len(observation) == 1
            assert isinstance(reward, float)
            assert env.observation["IsRunnable"]
        wrapped.reset()


def test_a_worker_that_crashes_or_hangs_is_replaced(make_env: MakeEnv) -> None:
    env = make_env(action_space="ScriptLines", benchmark="linalg-v0/matmul/32x32x8")
    for signal_number in (signal.SIGABRT, signal.SIGSTOP):
        env.reset()
        env.step("tile matmul0 4 16 4")
        pid = worker_pid(env)
        assert pid is not None
        os.kill(pid, signal_number)
        *_, truncated, info = env.step("vectorize matmul0", timeout=2)
        assert truncated
        assert info["error_type"]
        env.reset()
        assert not env.step("tile matmul0 4 16 4")[3]
        assert wait_until(lambda pid=pid: not is_running(pid))


def test_masks_are_those_of_the_actions(make_env: MakeEnv) -> None:
    env = make_env(benchmark="linalg-v0/matmul/16x32x8")
    env.reset()
    for name in ("block-4x16x4", "vectorize-operation"):
        masks = env.action_masks()
        assert masks.shape == (env.action_space.n,)  # type: ignore[attr-defined]  # discrete
        assert masks[env.action_space[name]]
        *_, info = env.step(env.action_space[name])
        assert not info["action_had_no_effect"]
    assert not env.action_masks()[env.action_space["im2col-operation"]]
