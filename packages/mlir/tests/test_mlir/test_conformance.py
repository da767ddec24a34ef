# SPDX-License-Identifier: MIT
"""MLIR passes the public suites, like any compiler."""

from typing import ClassVar

from compiler_gym.datasets import Benchmark
from compiler_gym.service import SessionSource
from compiler_gym.testing import EnvironmentConformance, SessionConformance
from compiler_gym_mlir.observations import OBSERVATION_SPACES
from compiler_gym_mlir.programs.builders import build

STABLE = tuple(s.name for s in OBSERVATION_SPACES if s.deterministic)
SPACES = ("Schedule", "CompositeMoves", "LegalMoves", "MatrixMultiplication")


class TestMlir(EnvironmentConformance):
    env_id = "mlir-v0"
    kwargs: ClassVar = {
        "benchmark": "linalg-v0/matmul/16x16x16",
        "observation_space": "OperationFeatures",
        "reward_space": "StaticCostSaved",
    }
    action_spaces = SPACES
    observations = tuple(name for name in STABLE if name != "IsRunnable")
    steps = 4


class TestMlirSession(SessionConformance):
    source = SessionSource("compiler_gym_mlir.session:MlirSession")
    programs = (
        Benchmark("benchmark://own-v0/1", build("matmul", (8, 16, 8)).encode()),
        Benchmark("benchmark://own-v0/2", build("softmax", (8, 8)).encode()),
    )
    parameters: ClassVar = {"mlir.refusal": "", "limits.runtime_observation_count": "2"}
    bad_programs = (b"module {", b"\xff\xfe", b"module {}", b"func.func @f() { return }")
    action_spaces = SPACES
    observations = STABLE
    steps = 4
