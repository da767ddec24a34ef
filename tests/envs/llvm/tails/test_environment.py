# SPDX-License-Identifier: MIT
"""The environment passes the public suite; the best prefix counts, and functions are drawn."""

import os
import pickle
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import compiler_gym
from compiler_gym.envs.llvm import make_benchmark
from compiler_gym.envs.llvm.tails.environment import LlvmTailsEnv
from compiler_gym.errors import MinimizationError
from compiler_gym.service.caching import TranspositionCache
from compiler_gym.testing import EnvironmentConformance, worker_pid
from compiler_gym.wrappers import ActionMasks, MacroActions

HALVED = "debian-sample-v0/minizip/ioapi.c?function=fill_fopen_filefunc"
"""A function of which one pass deletes half."""
SPACES: dict[str, Any] = {
    "observation_space": "FunctionCounts",
    "reward_space": "FunctionSavings",
}


class TestLlvmTails(EnvironmentConformance):
    env_id = "llvm-tails-v0"
    kwargs: ClassVar = {"benchmark": "benchmark://cbench-v1/crc32?function=main", **SPACES}
    observations = ("IrHash", "FunctionName", "FunctionCounts", "FunctionStateHash")
    steps = 4


@pytest.fixture
def env() -> Iterator[LlvmTailsEnv]:
    with compiler_gym.make("llvm-tails-v0", benchmark=HALVED, **SPACES) as env:
        assert isinstance(env, LlvmTailsEnv)
        yield env


def test_the_best_prefix_counts(env: LlvmTailsEnv) -> None:
    env.reset(benchmark="cbench-v1/gsm?function=lpc_analysis")
    names = ["FunctionSavings", "FunctionInstructionCount"]
    generator = np.random.default_rng(0)
    first = env.observation["FunctionInstructionCount"]
    sizes, earned = [first], 0.0
    for action in [env.action_space["load-store-vectorizer"], *generator.integers(99, size=80)]:
        best, plain = env.step(int(action), reward_spaces=names).reward
        sizes.append(env.observation["FunctionInstructionCount"])
        earned += best
        assert best >= 0
        assert plain == sizes[-2] - sizes[-1]
        assert earned == pytest.approx((first - min(sizes)) / first)
    assert earned > 0
    assert max(sizes[2:]) > min(sizes)


def test_a_reward_that_is_read_late_counts_from_the_reset(env: LlvmTailsEnv) -> None:
    env.reset(reward_space=None)
    env.multistep([env.action_space["load-store-vectorizer"]])
    assert env.reward["FunctionSavings"] == 0.5


def test_savings_of_functions_add_up_to_the_module(env: LlvmTailsEnv, tmp_path: Path) -> None:
    program = HALVED.partition("?")[0]
    env.reset(benchmark=program)
    base = env.observation["IrInstructionCount"]
    whole = make_benchmark(env.write_bitcode(tmp_path / "base.bc"))
    saved = 0
    for name in env.observation["FunctionFeatures"]["names"]:
        env.reset(benchmark=f"{program}?function={name}", reward_space="FunctionInstructionCount")
        saved += env.step(env.action_space["load-store-vectorizer"]).reward
    with compiler_gym.make("llvm-v0", benchmark=whole) as module:
        module.reset()
        module.step(module.action_space["load-store-vectorizer"])
        assert saved == base - module.observation["IrInstructionCount"] > 0


def test_replays_forks_pickles_and_caches_have_the_same_function(env: LlvmTailsEnv) -> None:
    env.reset(benchmark="cbench-v1/gsm", seed=4)
    env.multistep([env.action_space.sample() for _ in range(5)])

    def look(other: LlvmTailsEnv) -> tuple[Any, ...]:
        return (
            other.state,
            other.observation["FunctionStateHash"],
            other.observation["FunctionName"],
        )

    assert "draw=" in env.state.benchmark
    with env.fork() as fork, pickle.loads(pickle.dumps(env)) as twin:
        assert look(fork) == look(twin) == look(env)
    with compiler_gym.make("llvm-tails-v0", cache=TranspositionCache(), **SPACES) as replayed:
        for _ in range(2):
            replayed.apply(env.state)
            assert look(replayed) == look(env)  # type: ignore[arg-type]  # the same class
    assert env.validate().okay()


def test_a_reset_draws_a_function_unless_it_is_named(env: LlvmTailsEnv) -> None:
    def draw(**arguments: Any) -> str:
        env.reset(**arguments)
        return env.observation["FunctionName"]

    assert {draw() for _ in range(4)} == {"fill_fopen_filefunc"}
    first = [draw(seed=1, benchmark="cbench-v1/gsm"), *(draw() for _ in range(5))]
    assert [draw(seed=1, benchmark="cbench-v1/gsm"), *(draw() for _ in range(5))] == first
    assert len(set(first)) > 2
    address = str(env.benchmark)
    assert {draw(benchmark=address) for _ in range(3)} == {first[-1]}


def test_a_vector_draws_its_own_function_in_each_environment() -> None:
    vector = compiler_gym.make_vec(
        "llvm-tails-v0",
        2,
        wrappers=[lambda env: MacroActions(env, {"tail": ["gvn", "load-store-vectorizer"]})],
        sampler=["cbench-v1/gsm", "cbench-v1/sha"],
        max_episode_steps=3,
        **SPACES,
    )
    try:
        observations, info = vector.reset(seed=0)
        assert len(set(info["benchmark"])) == 2
        for _ in range(8):
            observations, rewards, *_ = vector.step(vector.action_space.sample())
            assert (rewards >= 0).all()
        assert observations.shape[0] == 2
    finally:
        vector.close()


def test_actions_without_effect_are_masked_for_this_function(env: LlvmTailsEnv) -> None:
    masked = ActionMasks(env)
    masked.reset()
    action = env.action_space["lower-switch"]
    masked.step(action)
    assert not masked.action_masks()[action]
    masked.reset(options={"benchmark": "cbench-v1/gsm?function=main"})
    assert masked.action_masks()[action]


def test_a_crash_leaves_the_best_prefix(env: LlvmTailsEnv) -> None:
    env.reset()
    env.step(env.action_space["load-store-vectorizer"])
    os.kill(worker_pid(env) or 0, signal.SIGKILL)
    assert env.step(0).truncated
    assert env.episode_reward == 0.5


def test_a_bug_report_is_refused(env: LlvmTailsEnv) -> None:
    env.reset()
    with pytest.raises(MinimizationError, match="one function alone"):
        env.write_bug_report("report")
