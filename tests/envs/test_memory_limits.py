# SPDX-License-Identifier: MIT
"""Whatever the memory limit of a worker is: what it asks for works, or the error says the limit."""

import pytest

import compiler_gym
from compiler_gym.datasets import Benchmark
from compiler_gym.envs import CompilerEnv
from compiler_gym.errors import (
    BenchmarkOutOfMemoryError,
    CompilerGymError,
    EnvironmentNotSupported,
    WorkerOutOfMemoryError,
)
from compiler_gym.options import Limits

OBSERVATIONS = {
    "gcc-v0": ("asm", "obj_size"),
    "llvm-v0": ("Ir", "Autophase", "Runtime"),
    "loop_tool-v0": ("loop_tree", "flops"),
    "mlir-v0": ("runtime",),
}


@pytest.mark.parametrize("megabytes", [20, 100, 150, 200, 300])
@pytest.mark.parametrize("name", OBSERVATIONS)
def test_a_limit_that_is_too_small_is_named(name: str, megabytes: int) -> None:
    limit = megabytes << 20
    try:
        env = compiler_gym.make(name, limits=Limits(memory_bytes=limit))
    except EnvironmentNotSupported as error:
        pytest.skip(str(error))
    with env:
        benchmark = env.benchmark
        for observation in OBSERVATIONS[name]:
            found = _error_of(env, benchmark, observation)
            if found is not None:
                assert isinstance(found, WorkerOutOfMemoryError), found
                assert found.limit_bytes == limit
                assert f"{limit} bytes" in str(found)
                assert "Limits(memory_bytes=" in str(found)


def _error_of(env: CompilerEnv, benchmark: Benchmark | None, observation: str) -> Exception | None:
    try:
        env.reset(benchmark=benchmark)
        _ = env.observation[observation]
        return env.step(0)[4].get("error")
    except CompilerGymError as error:
        return error


def test_a_compiler_above_the_limit_is_reported_at_the_reset() -> None:
    with (
        compiler_gym.make("llvm-v0", limits=Limits(memory_bytes=20 << 20)) as env,
        pytest.raises(BenchmarkOutOfMemoryError, match=r"20971520 bytes \(\d{8,} are in use"),
    ):
        env.reset()
