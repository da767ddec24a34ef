# SPDX-License-Identifier: MIT
"""Rules for LLVM's linker: formulas decide inlining and frame pointers in stock lld.

``rule`` reads and edits rules, ``linking`` links programs with one, runs them, and finds the
decision that breaks a program. ``session`` runs in workers, ``environment`` is the interface for
users, ``datasets`` lists the sets of programs, and ``families`` the tasks for language models.
``inputs.h`` documents the language; the size plug-in is built with it.
"""

from typing import TYPE_CHECKING

from compiler_gym.envs.llvm.toolchain import MAJOR
from compiler_gym.lazy import door
from compiler_gym.registration import Compiler, EnvironmentId

if TYPE_CHECKING:
    from compiler_gym_inline.rules.llvm.environment import LlvmRuleEnv
    from compiler_gym_inline.rules.llvm.rule import INPUTS, Rule

__all__ = ["INPUTS", "LlvmRuleEnv", "Rule", "llvm_rule"]

llvm_rule = Compiler(
    name="llvm-rule",
    description=f"Rules that decide inside LLVM {MAJOR}'s linker",
    environment="compiler_gym_inline.rules.llvm.environment:LlvmRuleEnv",
    version="compiler_gym._llvm:LLVM_VERSION",
    environments=(
        EnvironmentId(
            "llvm-rule-v0",
            {},
            {"observation_space": "RuleEffect", "reward_space": "LoadedBytes"},
        ),
    ),
)
"""The compiler that the entry point registers."""

__getattr__ = door(__name__)
