# SPDX-License-Identifier: MIT
"""LLVM's session passes the public suite by itself, without its environment."""

from pathlib import Path
from typing import ClassVar

from compiler_gym.core import CompilerEnv
from compiler_gym.datasets import Benchmark
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.service import SessionSource
from compiler_gym.testing import SessionConformance

PROGRAM = Path(__file__).parents[3] / "programs" / "crc32" / "crc32.bc"


class _Env(CompilerEnv):
    command_line_styles: ClassVar = LlvmEnv.command_line_styles


class TestLlvmSession(SessionConformance):
    source = SessionSource("compiler_gym.envs.llvm.session:LlvmSession")
    environment = _Env
    programs = (Benchmark("benchmark://conformance-v0/crc32", PROGRAM.read_bytes()),)
    bad_programs = (b"", b"no module", PROGRAM.read_bytes()[:200])
    action_spaces = ("Passes", "Pipelines")
    observations = ("IrHash", "InstCount", "Autophase", "IrInstructionCountO3", "LoopForest")
    steps = 3
