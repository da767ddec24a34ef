# SPDX-License-Identifier: MIT
"""GCC: choose command-line options for a program.

Importing this registers the compiler and loads nothing else. ``session`` runs in workers and
``environment`` in the user's process; ``actions``, ``observations`` and ``rewards`` are derived
from the options that a compiler reports, and ``datasets`` lists the programs. ``programs`` creates
them from files, ``state`` holds an episode's choices and program, ``panes`` has views of a program,
``toolchain`` finds and runs the compiler, and ``validation`` checks that a program still works.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door
from compiler_gym.registration import C_SOURCE, CXX_SOURCE, Compiler, EnvironmentId

if TYPE_CHECKING:
    from compiler_gym_gcc.actions.options import (
        GccFlagAlignOption,
        GccFlagEnumOption,
        GccFlagIntOption,
        GccFlagOption,
        GccOOption,
        GccParamEnumOption,
        GccParamIntOption,
        Option,
    )
    from compiler_gym_gcc.environment import GccEnv
    from compiler_gym_gcc.programs.own import make_benchmark, make_benchmark_from_source
    from compiler_gym_gcc.toolchain.gcc import DEFAULT_GCC, Gcc
    from compiler_gym_gcc.toolchain.spec import GccSpec, get_spec

__all__ = [
    "DEFAULT_GCC",
    "Gcc",
    "GccEnv",
    "GccFlagAlignOption",
    "GccFlagEnumOption",
    "GccFlagIntOption",
    "GccFlagOption",
    "GccOOption",
    "GccParamEnumOption",
    "GccParamIntOption",
    "GccSpec",
    "Option",
    "gcc",
    "get_spec",
    "make_benchmark",
    "make_benchmark_from_source",
]

gcc = Compiler(
    name="gcc",
    description="The command-line options of GCC on one program",
    environment="compiler_gym_gcc.environment:GccEnv",
    environments=(
        EnvironmentId(
            "gcc-v0",
            for_learning={"observation_space": "choices", "reward_space": "obj_size_os"},
        ),
    ),
    formats=(C_SOURCE, CXX_SOURCE),
    version="compiler_gym_gcc.toolchain.gcc:usual_version",
)
"""The compiler that the entry point names."""

__getattr__ = door(__name__)
