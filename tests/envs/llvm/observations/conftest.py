# SPDX-License-Identifier: MIT
"""Environments at the start of an episode on several programs."""

from collections.abc import Callable

import pytest

from compiler_gym.envs.llvm import LlvmEnv

PROGRAMS = ("crc32", "qsort", "susan")


@pytest.fixture(params=PROGRAMS)
def at_reset(request: pytest.FixtureRequest, make_env: Callable[..., LlvmEnv]) -> LlvmEnv:
    """Return an environment that has started on one of several programs."""
    env = make_env(benchmark=f"cbench-v1/{request.param}")
    env.reset()
    return env
