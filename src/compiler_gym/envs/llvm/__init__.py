# SPDX-License-Identifier: MIT
"""LLVM: optimise a module with passes of the new pass manager.

Importing this registers the compiler and loads nothing else. ``session`` runs in workers and
``environment`` in the user's process; ``actions``, ``observations`` and ``rewards`` are tables, and
``datasets`` lists the programs. ``programs`` creates them from files and builds, ``state`` holds an
episode's module, ``panes`` has views of a program, ``toolchain`` wraps LLVM's tools, and
``validation`` checks that a program still works. The tools' own LLVM code is in ``tools/*/llvm``.
"""

import re
from typing import TYPE_CHECKING

from compiler_gym.envs.llvm.toolchain.tools import MAJOR, tool_name
from compiler_gym.lazy import door
from compiler_gym.registration import (
    C_SOURCE,
    CXX_SOURCE,
    Compiler,
    EnvironmentId,
    ProgramFormat,
    Use,
)

if TYPE_CHECKING:
    from compiler_gym.envs.llvm.datasets import make_datasets
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
    from compiler_gym.envs.llvm.rewards import SpeedupReward, buildtime_reward
    from compiler_gym.envs.llvm.session import LlvmSession

__all__ = [
    "FORMATS",
    "BenchmarkFromCommandLine",
    "ClangInvocation",
    "LlvmCommandLine",
    "LlvmEnv",
    "LlvmSession",
    "SpeedupReward",
    "buildtime_reward",
    "compute_observation",
    "get_system_library_flags",
    "llvm",
    "make_benchmark",
    "make_benchmark_from_command_line",
    "make_benchmark_from_source",
    "make_benchmarks_from_compile_commands",
    "make_benchmarks_from_compile_commands_by_target",
    "make_datasets",
    "merge_benchmarks",
    "observation_spaces",
    "reward_spaces",
    "split_benchmark_by_function",
]

_OBSERVATIONS = {"autophase": "Autophase", "ir": "Ir"}
_REWARDS = {"ic": "IrInstructionCountOz", "codesize": "ObjectTextSizeOz"}
_FOR_LEARNING = {"observation_space": "Autophase", "reward_space": "IrInstructionCountOz"}
_DEFAULT_FOR = {
    "llvm-v0": (Use.COMMAND,),
    "llvm-ic-v0": (Use.SEARCH,),
    "llvm-autophase-ic-v0": (Use.LEARNING,),
}
_IR = re.compile(rb"^(; ModuleID|source_filename *=|target (triple|datalayout) *=|define |declare "
                 rb"|@[\w.$-]+ *=|%[\w.$-]+ *= *type |!\w+ *= )", re.MULTILINE)  # fmt: skip
_BITCODE = re.compile(rb"\A(BC\xc0\xde|\xde\xc0\x17\x0b)")

FORMATS = (
    C_SOURCE,
    CXX_SOURCE,
    ProgramFormat("IR", (".ll",), _IR, writer="write_ir"),
    ProgramFormat("bitcode", (".bc",), _BITCODE, is_text=False, writer="write_bitcode"),
)
"""The program formats that LLVM reads."""


def _environment(id: str, **arguments: str) -> EnvironmentId:
    return EnvironmentId(id, arguments, _FOR_LEARNING, _DEFAULT_FOR.get(id, ()))


llvm = Compiler(
    name="llvm",
    description=f"LLVM {MAJOR} middle-end passes on one module",
    environment="compiler_gym.envs.llvm.environment:LlvmEnv",
    formats=FORMATS,
    next_steps={"PipelineError": f"`{tool_name('opt')} --print-passes` lists every pass"},
    search_defaults={
        "action_space": "PassesAndPipelines",
        "reward_space": "IrInstructionCountOz",
    },
    version="compiler_gym._llvm:LLVM_VERSION",
    session="compiler_gym.envs.llvm.session:LlvmSession",
    environments=(
        _environment("llvm-v0"),
        *(
            _environment(f"llvm-{short}-v0", reward_space=reward)
            for short, reward in _REWARDS.items()
        ),
        *(
            _environment(
                f"llvm-{seen}-{short}-v0", observation_space=observation, reward_space=reward
            )
            for seen, observation in _OBSERVATIONS.items()
            for short, reward in _REWARDS.items()
        ),
    ),
)
"""The compiler that the entry point names."""

__getattr__ = door(__name__)
