# SPDX-License-Identifier: MIT
"""The processor is what Linux says of it."""

import os

from compiler_gym.envs.llvm import (
    LlvmEnv,
)


def test_the_processor_is_described(env: LlvmEnv) -> None:
    env.reset()
    cpu = env.observation["CpuInfo"]
    assert cpu["cores_count"] == os.cpu_count()
    assert cpu in env.observation.spaces["CpuInfo"].space
