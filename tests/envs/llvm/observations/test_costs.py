# SPDX-License-Identifier: MIT
"""Costs and their baselines, compared with clang and LLVM's own tools."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym import _llvm
from compiler_gym.datasets import Benchmark
from compiler_gym.envs.llvm import (
    LlvmEnv,
)
from compiler_gym.envs.llvm.observations import (
    LEVELS,
)
from compiler_gym.envs.llvm.observations.costs import COSTS_OF_IR, COSTS_OF_PROGRAMS
from compiler_gym.tables import Cost, Observation

MakeEnv = Callable[..., LlvmEnv]
Tool = Callable[..., bytes]
PROGRAMS = ("crc32", "sha", "qsort")


def count_instructions(ir: str) -> int:
    """Count the instructions of printed IR."""
    bodies = re.findall(r"^define [^\n]*\{\n(.*?)^\}", ir, re.DOTALL | re.MULTILINE)
    lines = [line for body in bodies for line in body.splitlines()]
    return sum(bool(re.match(r"  [^ \]]", line)) for line in lines)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("level", ["O1", "O2", "O3"])
def test_a_baseline_is_what_clang_does(
    make_env: MakeEnv, tool: Tool, tmp_path: Path, program: str, level: str
) -> None:
    env = make_env(benchmark=f"cbench-v1/{program}?goal=speed")
    env.reset()
    path = env.write_bitcode(tmp_path / "module.bc")
    printed = tool("clang-22", f"-{level}", "-S", "-emit-llvm", "-x", "ir", path, "-o", "-")
    assert env.observation[f"IrInstructionCount{level}"] == count_instructions(printed.decode())


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("level", ["Os", "Oz", "O3"])
def test_a_baseline_is_what_clang_does_from_source(
    make_env: MakeEnv, tool: Tool, program: str, level: str
) -> None:
    env = make_env(benchmark=f"cbench-v1/{program}")
    env.reset()
    assert env.benchmark is not None
    (source,) = [s for s in env.benchmark.sources if s.filename.endswith(".c")]
    # The C library's headers define atoi() in place unless the code is to be small; the program
    # was emitted as for -O2, so it has that definition at every level.
    flags = ("-std=c11", "-ffp-contract=off", "-U__OPTIMIZE_SIZE__")
    flags += ("-S", "-emit-llvm", "-x", "c", "-", "-o", "-")
    printed = tool("clang-22", f"-{level}", *flags, input=source.contents).decode()
    assert env.observation[f"IrInstructionCount{level}"] == count_instructions(printed)


@pytest.mark.parametrize("goal", ["size", "speed"])
@pytest.mark.parametrize("marks", ["", "minsize optsize"])
def test_the_published_baseline_is_opts_result_without_attributes(
    make_env: MakeEnv, tool: Tool, tmp_path: Path, goal: str, marks: str
) -> None:
    env = make_env()
    env.reset(benchmark="cbench-v1/sha")
    assert env.benchmark is not None
    plain, marked = tmp_path / "plain.bc", tmp_path / "marked.bc"
    plain.write_bytes(env.benchmark.contents)
    forced = [f"-force-attribute={mark}" for mark in marks.split()]
    tool("opt-22", "-passes=forceattrs", *forced, plain, "-o", marked)
    program = Benchmark(f"benchmark://user-v0/marked?goal={goal}", marked.read_bytes())
    env.reset(benchmark=program)
    left = tool("opt-22", "-discard-value-names", "-passes=default<Oz>", plain, "-o", "-")
    theirs = _llvm.Module(left)
    assert env.observation["IrInstructionCountOptOz"] == theirs.instruction_count()
    assert env.observation["ObjectTextSizeOptOz"] == theirs.object_text_size()
    module = _llvm.Module(marked.read_bytes())
    module.apply_level("OptOz")
    assert re.search("minsize|optsize", module.text()) is None
    assert env.observation["IrInstructionCountOptOz"] > env.observation["IrInstructionCountOz"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_text_size_is_what_llvm_size_says(
    make_env: MakeEnv, tool: Tool, tmp_path: Path, program: str
) -> None:
    env = make_env(benchmark=f"cbench-v1/{program}")
    env.reset()
    for step in range(3):
        path = env.write_bitcode(tmp_path / "module.bc")
        tool("llc-22", "-filetype=obj", path, "-o", tmp_path / "module.o")
        sections = tool("llvm-size-22", "-A", tmp_path / "module.o").decode()
        text = sum(int(size) for size in re.findall(r"^\.text\S*\s+(\d+)", sections, re.MULTILINE))
        assert env.observation["ObjectTextSizeBytes"] == text
        env.step(env.action_space[("sroa", "instcombine", "simplifycfg")[step]])


@pytest.mark.parametrize("program", PROGRAMS)
def test_optimisation_makes_code_smaller(make_env: MakeEnv, program: str) -> None:
    env = make_env(benchmark=f"cbench-v1/{program}")
    env.reset()
    for cost in ("IrInstructionCount", "ObjectTextSize"):
        sizes = {level: env.observation[f"{cost}{level}"] for level in LEVELS}
        assert sizes["O0"] > sizes["Oz"] > 0, sizes


ROWS = (*COSTS_OF_IR, *COSTS_OF_PROGRAMS)


@pytest.mark.parametrize(
    "cost", [row for row in ROWS if isinstance(row, Cost)], ids=lambda c: c.name
)
def test_a_cost_has_its_observation_before_it_and_a_baseline_at_every_level(cost: Cost) -> None:
    before = ROWS[ROWS.index(cost) - 1]
    assert isinstance(before, Observation)
    assert before.name == cost.observation
    assert (before.deterministic, before.platform_dependent) == (
        cost.deterministic, cost.platform_dependent,
    )  # fmt: skip
    assert cost.baselines == tuple(f"{cost.name}{level}" for level in LEVELS)
    assert cost.initial == f"{cost.name}Initial"


def test_only_what_perf_counts_is_not_deterministic() -> None:
    costs = [row for row in ROWS if isinstance(row, Cost)]
    assert [cost.name for cost in costs if not cost.deterministic] == ["RuntimeInstructions"]
    assert [cost.name for cost in costs if not cost.platform_dependent] == ["IrInstructionCount"]
