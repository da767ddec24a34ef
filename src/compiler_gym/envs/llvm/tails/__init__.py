# SPDX-License-Identifier: MIT
"""Passes on one function after ``clang -Oz``, where each function can be decided on its own.

Programs, engine and observations of the module are those of ``llvm-v0``. ``session`` runs in
workers, ``environment`` is the interface for users, ``observations`` is a table.
"""

from typing import TYPE_CHECKING

from compiler_gym.envs.llvm import FORMATS
from compiler_gym.envs.llvm.toolchain import MAJOR
from compiler_gym.lazy import door
from compiler_gym.registration import Compiler, EnvironmentId

if TYPE_CHECKING:
    from compiler_gym.envs.llvm.tails.environment import LlvmTailsEnv

__all__ = ["LlvmTailsEnv", "llvm_tails"]

llvm_tails = Compiler(
    name="llvm-tails",
    description=f"LLVM {MAJOR} function passes on one function, after clang -Oz",
    environment="compiler_gym.envs.llvm.tails.environment:LlvmTailsEnv",
    formats=FORMATS,
    version="compiler_gym._llvm:LLVM_VERSION",
    search_defaults={"reward_space": "FunctionSavings"},
    environments=(
        EnvironmentId(
            "llvm-tails-v0",
            {},
            {"observation_space": "FunctionCounts", "reward_space": "FunctionSavings"},
        ),
    ),
)
"""The compiler that the entry point registers."""

__getattr__ = door(__name__)
