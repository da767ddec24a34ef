# SPDX-License-Identifier: MIT
"""Validation of LLVM's results; `rungs` lists the checks."""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.envs.llvm.validation.alive import is_proved
    from compiler_gym.envs.llvm.validation.bug_report import BugReport, write_bug_report
    from compiler_gym.envs.llvm.validation.build import AS_IT_IS
    from compiler_gym.envs.llvm.validation.rungs import RUNGS, validate
    from compiler_gym.envs.llvm.validation.runs import compare_module

__all__ = [
    "AS_IT_IS",
    "QUICK",
    "RUNGS",
    "BugReport",
    "compare_module",
    "is_proved",
    "validate",
    "write_bug_report",
]

QUICK = ("replay", "verify", "run", "checksums")
"""The rungs that take a second or less."""

__getattr__ = door(__name__)
