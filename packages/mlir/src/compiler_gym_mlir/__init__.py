# SPDX-License-Identifier: MIT
"""MLIR: choose the transformations of a structured tensor program.

Importing this package registers the compiler and loads nothing else. ``session`` runs in workers,
``environment`` in the user's process; ``actions``, ``observations`` and ``rewards`` are tables, and
``datasets`` lists the payloads. ``programs`` writes and parses them, ``state`` holds an episode's
payload and moves, ``toolchain`` compiles and times it, ``validation`` checks that it still computes
the right results, and ``panes`` are its views.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door
from compiler_gym.registration import Compiler, EnvironmentId, ProgramFormat

if TYPE_CHECKING:
    from compiler_gym_mlir.actions.subactions import (
        MlirRlWrapperEnv,
        convert_action,
        make_mlir_rl_wrapper_env,
    )
    from compiler_gym_mlir.datasets import MatmulBenchmark, MatmulDataset, make_benchmark
    from compiler_gym_mlir.environment import MlirEnv

__all__ = [
    "MatmulBenchmark",
    "MatmulDataset",
    "MlirEnv",
    "MlirRlWrapperEnv",
    "convert_action",
    "make_benchmark",
    "make_mlir_rl_wrapper_env",
    "mlir",
]

mlir = Compiler(
    name="mlir",
    description="Schedules of structured tensor programs, run and checked",
    environment="compiler_gym_mlir.environment:MlirEnv",
    environments=(
        EnvironmentId(
            "mlir-v0",
            for_learning={"observation_space": "OperationFeatures", "reward_space": "LogSpeedup"},
        ),
    ),
    nondeterministic=True,
    formats=(ProgramFormat("MLIR", (".mlir",)),),
    version="compiler_gym_mlir.toolchain.bindings:find_version",
)
"""The plug-in object that the entry point names."""

__getattr__ = door(__name__)
