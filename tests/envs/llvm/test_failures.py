# SPDX-License-Identifier: MIT
"""Failures of the compiler are ordinary events: the episode ends, the next one starts."""

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.errors import (
    ModuleTooLargeError,
    WorkerCrashedError,
    WorkerOutOfMemoryError,
    WorkerTimeoutError,
)
from compiler_gym.service import Limits
from compiler_gym.testing import worker_pid

MakeEnv = Callable[..., LlvmEnv]


def worker_of(env: LlvmEnv) -> int:
    """Return the process of the worker of `env`, which has to have one."""
    pid = worker_pid(env)
    assert pid is not None
    return pid


def unrollable(path: Path) -> Path:
    """Write a C program that grows a lot when its loops are unrolled."""
    path.write_text(
        "void f(int *p) {\n"
        "  for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) for (int k = 0; k < 8; k++)\n"
        "    p[i * 64 + j * 8 + k] ^= i * j + k;\n}\n"
    )
    return path


def test_a_worker_that_is_killed_in_mid_step_ends_the_episode_alone(make_env: MakeEnv) -> None:
    env, bystander = make_env(reward_space="IrInstructionCount"), make_env()
    env.reset()
    bystander.reset()
    env.step(env.action_space["sroa"])
    os.kill(worker_of(env), signal.SIGSEGV)
    _, reward, terminated, truncated, info = env.step(env.action_space["gvn"])
    assert (terminated, truncated) == (False, True)
    error = info["error"]
    assert isinstance(error, WorkerCrashedError)
    assert error.signal_name == "SIGSEGV"
    assert info["error_type"] == "WorkerCrashedError"
    assert "gvn" in info["reproducer"]
    assert "/" not in info["reproducer"].replace("input.bc", "").replace("output.bc", "")
    assert reward + 0 == reward
    assert env.episode_reward == 0  # what was earned is taken back
    assert not env.in_episode
    assert bystander.step(0)[3] is False
    env.reset()
    assert env.step(0)[3] is False


def test_a_step_that_passes_its_deadline_ends_the_episode(make_env: MakeEnv) -> None:
    env = make_env(observation_space="Autophase")
    env.reset()
    os.kill(worker_of(env), signal.SIGSTOP)
    observation, _, terminated, truncated, info = env.step(0, timeout=0.3)
    assert (terminated, truncated) == (False, True)
    assert isinstance(info["error"], WorkerTimeoutError)
    assert info["error"].seconds == 0.3
    assert observation in env.observation_space
    env.reset()
    assert env.step(0)[3] is False


def test_a_module_that_outgrows_its_limit_ends_the_episode(
    make_env: MakeEnv, tmp_path: Path
) -> None:
    env = make_env(limits=Limits(growth=2, growth_floor=50))
    env.reset(benchmark=f"file://{unrollable(tmp_path / 'nest.c')}?goal=speed")
    info: dict[str, Any] = {}
    names = ("sroa", "simplifycfg", "loop-rotate", "indvars", "loop-unroll-full")
    names += ("instcombine", "loop-simplify", "loop-unroll<O3>")
    for name in names:
        *_, truncated, info = env.step(env.action_space[name])
        if truncated:
            break
    assert isinstance(info["error"], ModuleTooLargeError)
    assert "beyond the limit" in info["error_details"]
    env.reset(benchmark="cbench-v1/crc32")
    assert env.step(0)[3] is False


def test_memory_is_limited(make_env: MakeEnv, tmp_path: Path) -> None:
    source = tmp_path / "large.c"
    lines = "\n".join(
        f"int f{i}(int *a, int n) "
        f"{{ int s = 0; for (int i = 0; i < n; i++) s += a[i] * {i}; return s; }}"
        for i in range(4000)
    )
    source.write_text(lines)
    probe = make_env()
    probe.reset(benchmark=f"file://{source}")
    status = Path(f"/proc/{worker_of(probe)}/status").read_text()
    (size,) = re.findall(r"^VmSize:\s+(\d+) kB", status, re.MULTILINE)
    env = make_env(limits=Limits(memory_bytes=(int(size) + 4096) * 1024), action_space="Pipelines")
    env.reset(benchmark=f"file://{source}")
    *_, truncated, info = env.step(env.action_space["-O3"])
    assert truncated
    assert isinstance(info["error"], WorkerOutOfMemoryError), info
    env.reset(benchmark="cbench-v1/crc32")
    assert env.step(0)[3] is False


@pytest.mark.slow
def test_passes_known_to_crash_are_survived(make_env: MakeEnv) -> None:
    import random

    env = make_env(action_space="PassesAll", limits=Limits(step_seconds=5))
    generator = random.Random(1)
    programs = list(env.datasets["benchmark://cbench-v1"].benchmark_uris())
    for _ in range(150):
        env.reset(benchmark=generator.choice(programs))
        for _ in range(40):
            *_, truncated, info = env.step(generator.randrange(env.action_space.n))
            if truncated:
                assert info["error_type"]
                break
