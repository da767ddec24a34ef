# SPDX-License-Identifier: MIT
"""Loop nests: schedule the loops of a small tensor program, which is compiled and timed.

Importing this package registers the compiler and loads nothing else. ``session`` runs in workers,
``environment`` in the user's process; ``actions``, ``observations`` and ``rewards`` are tables, and
``datasets`` lists the programs. ``state`` holds the language and the loop tree, ``programs``
generates programs, ``toolchain`` compiles and times trees, ``validation`` compares results with
NumPy's, ``pictures`` and ``panes`` are the views, and ``jit`` compiles and times LLVM IR.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door
from compiler_gym.registration import Compiler, EnvironmentId, ProgramFormat

if TYPE_CHECKING:
    from compiler_gym_loop_tool.datasets import (
        LoopToolCPUDataset,
        LoopToolCUDADataset,
        make_benchmark,
    )
    from compiler_gym_loop_tool.environment import LoopToolEnv
    from compiler_gym_loop_tool.rewards import FLOPSReward

__all__ = [
    "VERSION",
    "FLOPSReward",
    "LoopToolCPUDataset",
    "LoopToolCUDADataset",
    "LoopToolEnv",
    "loop_tool",
    "make_benchmark",
]

VERSION = "1"
"""The version of the loop nest language and of the results computed from it."""

loop_tool = Compiler(
    name="loop_tool",
    description="Loop nests of tensor programs, compiled and timed as they are changed",
    environment="compiler_gym_loop_tool.environment:LoopToolEnv",
    environments=(
        EnvironmentId(
            "loop_tool-v0", {"observation_space": "action_state", "reward_space": "flops"}
        ),
        EnvironmentId(
            "loop_tool-loops-v0",
            {
                "action_space": "loops",
                "observation_space": "loop_vectors",
                "reward_space": "peak_gain",
                "benchmark": "benchmark://looptune-matmul-v0/128x128x128",
            },
        ),
    ),
    nondeterministic=True,
    formats=(ProgramFormat("loop nest", (".nest",)),),
    version=f"{__name__}:VERSION",
)
"""The plug-in object that the entry point names."""

__getattr__ = door(__name__)
