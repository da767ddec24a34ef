# SPDX-License-Identifier: MIT
"""GCC: choose its command-line options for a program.

Importing this names the compiler and nothing more. ``session`` runs in workers,
``environment`` is what users hold; ``actions``, ``observations`` and ``rewards``
are made from the options that a compiler says it has, ``datasets`` are the
programs, ``validators`` the proof that a program still does its job.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door
from compiler_gym.registration import C_SOURCE, CXX_SOURCE, Compiler, EnvironmentId

if TYPE_CHECKING:
    from compiler_gym.envs.gcc._gcc import DEFAULT_GCC, Gcc
    from compiler_gym.envs.gcc._options import (
        GccFlagAlignOption,
        GccFlagEnumOption,
        GccFlagIntOption,
        GccFlagOption,
        GccOOption,
        GccParamEnumOption,
        GccParamIntOption,
        Option,
    )
    from compiler_gym.envs.gcc._own import make_benchmark, make_benchmark_from_source
    from compiler_gym.envs.gcc._spec import GccSpec
    from compiler_gym.envs.gcc.environment import GccEnv

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
    "make_benchmark",
    "make_benchmark_from_source",
]

gcc = Compiler(
    name="gcc",
    description="The command-line options of GCC on one program",
    environment="compiler_gym.envs.gcc.environment:GccEnv",
    environments=(EnvironmentId("gcc-v0"),),
    formats=(C_SOURCE, CXX_SOURCE),
)
"""What the entry point names."""

_WHERE = {
    "DEFAULT_GCC": "_gcc",
    "Gcc": "_gcc",
    "GccEnv": "environment",
    "GccSpec": "_spec",
    "make_benchmark": "_own",
    "make_benchmark_from_source": "_own",
}


__getattr__ = door(
    __name__,
    {name: f"{__name__}.{_WHERE.get(name, '_options')}" for name in __all__ if name != "gcc"},
)
