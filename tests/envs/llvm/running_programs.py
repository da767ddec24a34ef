# SPDX-License-Identifier: MIT
"""Small programs that are run, and environments that have started on them."""

from collections.abc import Callable
from typing import Any

from compiler_gym.datasets import Benchmark, ExpectedOutput, RunSpec
from compiler_gym.envs.llvm import LlvmEnv, make_benchmark_from_source

MakeEnv = Callable[..., LlvmEnv]
HELLO = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'
HELLO_RUN = RunSpec.single(expected=ExpectedOutput.of(stdout=b"hello\n"))


def program(source: str, run: RunSpec | None = HELLO_RUN) -> Benchmark:
    """Return the program of `source`, which prints hello unless `run` says otherwise."""
    return make_benchmark_from_source(source, lang="c", run=run)


def started(make_env: MakeEnv, benchmark: Benchmark | str, **kwargs: Any) -> LlvmEnv:
    """Return an environment in an episode on `benchmark`."""
    env = make_env(**kwargs)
    env.reset(benchmark=benchmark)
    return env
