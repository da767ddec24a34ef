# SPDX-License-Identifier: MIT
"""LLVM 22: optimise a module with passes of the new pass manager.

Importing this names the compiler and nothing more. ``session`` runs in workers,
``environment`` is what users hold; ``actions``, ``observations`` and ``rewards``
are tables, ``datasets`` the programs it knows and ``programs`` how one comes to be,
``machine`` what makes it run, ``validation`` the proof that it still does its job.
"""

import importlib
from typing import TYPE_CHECKING, Any

from compiler_gym.registration import Compiler, EnvironmentId

if TYPE_CHECKING:
    from compiler_gym.envs.llvm.environment import (
        LlvmCommandLine,
        LlvmEnv,
        compute_observation,
        merge_benchmarks,
        observation_spaces,
        reward_spaces,
        split_benchmark_by_function,
    )
    from compiler_gym.envs.llvm.programs.builds import (
        BenchmarkFromCommandLine,
        make_benchmark_from_command_line,
    )
    from compiler_gym.envs.llvm.programs.compilation_database import (
        make_benchmarks_from_compile_commands,
        make_benchmarks_from_compile_commands_by_target,
    )
    from compiler_gym.envs.llvm.programs.source import (
        ClangInvocation,
        get_system_library_flags,
        make_benchmark,
        make_benchmark_from_source,
    )

__all__ = [
    "BenchmarkFromCommandLine",
    "ClangInvocation",
    "LlvmCommandLine",
    "LlvmEnv",
    "compute_observation",
    "get_system_library_flags",
    "llvm",
    "make_benchmark",
    "make_benchmark_from_command_line",
    "make_benchmark_from_source",
    "make_benchmarks_from_compile_commands",
    "make_benchmarks_from_compile_commands_by_target",
    "merge_benchmarks",
    "observation_spaces",
    "reward_spaces",
    "split_benchmark_by_function",
]

_OBSERVATIONS = {"autophase": "Autophase", "ir": "Ir"}
_REWARDS = {"ic": "IrInstructionCountOz", "codesize": "ObjectTextSizeOz"}

llvm = Compiler(
    name="llvm",
    description="LLVM 22 middle-end passes on one module",
    environment="compiler_gym.envs.llvm.environment:LlvmEnv",
    recorder="compiler_gym.envs.llvm.programs.builds:record",
    database_reader="compiler_gym.envs.llvm.programs.compilation_database:read_compilation_database",
    environments=(
        EnvironmentId("llvm-v0"),
        *(
            EnvironmentId(f"llvm-{short}-v0", {"reward_space": reward})
            for short, reward in _REWARDS.items()
        ),
        *(
            EnvironmentId(
                f"llvm-{seen}-{short}-v0",
                {"observation_space": observation, "reward_space": reward},
            )
            for seen, observation in _OBSERVATIONS.items()
            for short, reward in _REWARDS.items()
        ),
    ),
)
"""What the entry point names."""

_WHERE = {
    "BenchmarkFromCommandLine": "programs.builds",
    "ClangInvocation": "programs.source",
    "get_system_library_flags": "programs.source",
    "make_benchmark": "programs.source",
    "make_benchmark_from_command_line": "programs.builds",
    "make_benchmark_from_source": "programs.source",
    "make_benchmarks_from_compile_commands": "programs.compilation_database",
    "make_benchmarks_from_compile_commands_by_target": "programs.compilation_database",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'compiler_gym.envs.llvm' has no attribute {name!r}")
    module = _WHERE.get(name, "environment")
    found = getattr(importlib.import_module(f"compiler_gym.envs.llvm.{module}"), name)
    globals()[name] = found
    return found
