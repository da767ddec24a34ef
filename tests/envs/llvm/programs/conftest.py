# SPDX-License-Identifier: MIT
"""What a program does when it runs, and which functions are in it."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from compiler_gym.datasets import Benchmark
from compiler_gym.envs.llvm import LlvmEnv

Env = Callable[..., LlvmEnv]


def status_of(program: Path) -> int:
    return subprocess.run([program], check=False, timeout=120).returncode


def functions_of(benchmark: Benchmark, make_env: Env) -> set[str]:
    env = make_env(observation_space="Ir")
    ir, _ = env.reset(benchmark=benchmark)
    lines = [line for line in ir.splitlines() if line.startswith("define")]
    return {line.partition("@")[2].partition("(")[0] for line in lines}
