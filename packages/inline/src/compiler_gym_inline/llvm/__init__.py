# SPDX-License-Identifier: MIT
"""Inlining decisions for one call at a time, in the middle of a standard LLVM pipeline.

Programs, engine, costs and rewards are those of ``llvm-v0``. ``session`` runs in workers,
``environment`` is the interface for users, ``actions`` and ``observations`` are tables, and
``python -m compiler_gym_inline.llvm`` repeats an episode on a file. ``policies`` decide from
the features of a call alone, and ``serving`` lets them answer stock compilers.
"""

from typing import TYPE_CHECKING

from compiler_gym.envs.llvm import FORMATS
from compiler_gym.envs.llvm.toolchain import MAJOR
from compiler_gym.lazy import door
from compiler_gym.registration import Compiler, EnvironmentId

if TYPE_CHECKING:
    from compiler_gym_inline.llvm.environment import InlineCommandLine, LlvmInlineEnv
    from compiler_gym_inline.llvm.policies import FeaturePolicy

__all__ = ["FeaturePolicy", "InlineCommandLine", "LlvmInlineEnv", "llvm_inline"]

llvm_inline = Compiler(
    name="llvm-inline",
    description=f"LLVM {MAJOR}'s inliner, one decision per call",
    environment="compiler_gym_inline.llvm.environment:LlvmInlineEnv",
    formats=FORMATS,
    version="compiler_gym._llvm:LLVM_VERSION",
    search_defaults={"action_space": "InliningAndRest", "reward_space": "IrInstructionCountOz"},
    environments=(
        EnvironmentId(
            "llvm-inline-v0",
            {},
            {"observation_space": "InlineFeatures", "reward_space": "IrInstructionCountOz"},
        ),
    ),
)
"""The compiler that the entry point registers."""

__getattr__ = door(__name__)
