# SPDX-License-Identifier: MIT
"""The loop nests pass the public suites, like any compiler; nothing is timed here."""

from typing import ClassVar

from compiler_gym.datasets import Benchmark
from compiler_gym.testing import EnvironmentConformance, SessionConformance
from compiler_gym_loop_tool.environment import SOURCE
from compiler_gym_loop_tool.observations import TABLE
from compiler_gym_loop_tool.state.descriptions import describe

SURE = tuple(row.name for row in TABLE.observations if row.deterministic and row.name != "llvm_ir")


class TestLoopTool(EnvironmentConformance):
    env_id = "loop_tool-v0"
    kwargs: ClassVar = {
        "benchmark": "loop_tool://dense/m=12,n=20,k=9",
        "observation_space": "loop_vectors",
        "reward_space": "flops_deterministic",
    }
    observations = SURE
    steps = 12


class TestLoopToolSession(SessionConformance):
    source = SOURCE
    programs = (
        Benchmark("benchmark://own-v0/1", describe("matmul", "m=9,n=10,k=11").encode()),
        Benchmark("benchmark://own-v0/2", b"splits 3\n" + describe("add", "a=100").encode()),
    )
    parameters: ClassVar = {"timing.seconds": "0.02", "check.interpreted": "3"}
    bad_programs = (b"", b"dim m 0", b"dim m 4\nx = read A[m, z]", b"\xff", b"write a B[m]")
    observations = SURE
    steps = 12
