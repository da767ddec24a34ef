# SPDX-License-Identifier: MIT
"""LLVM passes the public suite, like any compiler."""

from pathlib import Path
from typing import ClassVar

import pytest

from compiler_gym import make
from compiler_gym.testing import EnvironmentConformance


class TestLlvm(EnvironmentConformance):
    env_id = "llvm-v0"
    kwargs: ClassVar = {
        "benchmark": "benchmark://cbench-v1/crc32",
        "observation_space": "Autophase",
        "reward_space": "IrInstructionCountOz",
    }
    action_spaces = ("Passes", "Pipelines", "Parameters")
    observations = ("IrHash", "InstCount", "Autophase", "IrInstructionCount", "ObjectTextSizeBytes")
    steps = 3


class TestMarks(EnvironmentConformance):
    env_id = "llvm-v0"
    kwargs: ClassVar = {
        "benchmark": "benchmark://cbench-v1/crc32",
        "action_space": "Marks",
        "observation_space": "Autophase",
        "reward_space": "IrInstructionCountOz",
    }
    action_spaces = ("Marks",)
    observations = ("IrHash", "CallSites", "Loops", "Functions", "IrInstructionCount")
    steps = 5


@pytest.mark.slow
class TestMarksAndCodegen(EnvironmentConformance):
    env_id = "llvm-v0"
    kwargs: ClassVar = {
        "benchmark": "benchmark://cbench-v1/crc32",
        "action_space": "MarksAndCodegen",
        "observation_space": "Autophase",
        "reward_space": "IrInstructionCountOz",
    }
    action_spaces = ("MarksAndCodegen",)
    observations = ("IrHash", "CallSites", "CodegenChoices", "ObjectTextSizeBytes")
    steps = 5


class TestCodegen(EnvironmentConformance):
    env_id = "llvm-v0"
    kwargs: ClassVar = {
        "benchmark": "benchmark://cbench-v1/crc32",
        "action_space": "Codegen",
        "observation_space": "CodegenChoices",
        "reward_space": "IrInstructionCountOz",
    }
    action_spaces = ("Codegen", "CodegenOptions", "PassesAndCodegen", "PipelinesAndCodegen")
    observations = ("IrHash", "CodegenChoices", "ObjectTextSizeBytes")
    steps = 3


class TestWholeProgram(EnvironmentConformance):
    env_id = "llvm-v0"
    kwargs: ClassVar = {
        "benchmark": "benchmark://cbench-v1/crc32?scope=program",
        "action_space": "PassesAndPipelines",
        "observation_space": "Autophase",
        "reward_space": "IrInstructionCountOptOz",
    }
    action_spaces = ("PassesAndPipelines", "Marks", "Parameters")
    observations = ("IrHash", "IrInstructionCount", "ObjectTextSizeBytes")
    steps = 3


@pytest.mark.slow
class TestAnotherMachine(EnvironmentConformance):
    env_id = "llvm-v0"
    kwargs: ClassVar = {
        "benchmark": "benchmark://cbench-v1/crc32?target=riscv64",
        "observation_space": "Autophase",
        "reward_space": "IrInstructionCountOz",
    }
    action_spaces = ("Passes", "PassesAndCodegen")
    observations = ("IrHash", "ObjectTextSizeBytes", "ObjectInstructionCount", "McaCycles")
    steps = 3


def test_a_fork_writes_bitcode_to_its_own_file() -> None:
    with make("llvm-v0", benchmark="benchmark://cbench-v1/crc32") as env:
        env.reset()
        with env.fork() as fork:
            fork.step(fork.action_space["sroa"])
            theirs, mine = (
                Path(fork.observation["BitcodeFile"]),
                Path(env.observation["BitcodeFile"]),
            )
            assert theirs != mine
            assert theirs.read_bytes() == fork.observation["Bitcode"].tobytes()
            assert mine.read_bytes() == env.observation["Bitcode"].tobytes()
