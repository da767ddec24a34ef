# SPDX-License-Identifier: MIT
"""The tools of Compiler-R1 count and search, on its metric and on the true one."""

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

import compiler_gym
from compiler_gym_agents.llvm.compiler_r1 import CompilerR1

ROOT = Path(__file__).parents[5]
ROWS = {
    "`-Oz` alone": "llvm-ic-60s/Oz",
    "random search, 10 s": "llvm-ic-10s/random",
    "local search, 10 s": "llvm-ic-10s/local",
    "the levels, then a portfolio, 10 s": "llvm-ic-10s/portfolio-levels",
    "random search, 60 s": "llvm-ic-60s/random",
    "local search, 60 s": "llvm-ic-60s/local",
    "the levels, then a portfolio, 60 s": "llvm-ic-60s/portfolio-levels",
}


@pytest.fixture(scope="module")
def tools() -> Iterator[CompilerR1]:
    with CompilerR1(steps=20) as tools:
        yield tools


def asked(tools: CompilerR1, tool: str, **arguments: Any) -> dict[str, Any]:
    return json.loads(tools.call(tool, {"filename": "x/cbench-v1_crc32.ll", **arguments}))


def test_its_two_tools_have_its_names_and_arguments(tools: CompilerR1) -> None:
    assert {tool.name: tool.parameters["required"] for tool in tools.tools()} == {
        "instrcount": ["filename", "optimization_flags"],
        "find_best_pass_sequence": ["filename"],
    }


def test_flags_are_counted_on_both_metrics(tools: CompilerR1) -> None:
    with compiler_gym.make("llvm-v0", benchmark="cbench-v1/crc32") as env:
        env.reset()
        opt_oz, oz = (env.observation[f"IrInstructionCount{one}"] for one in ("OptOz", "Oz"))
    found = asked(tools, "instrcount", optimization_flags=["-Oz"])
    assert found["status"] == "success"
    assert found["instruction_count"] == oz
    assert found["improvement_over_oz"] == (opt_oz - oz) / opt_oz
    assert found["improvement_over_clang_oz"] == 0
    old = asked(tools, "instrcount", optimization_flags=["--mem2reg", "-early-cse-memssa"])
    assert old["instruction_count"] < 586


def test_a_search_finds_what_counting_confirms(tools: CompilerR1) -> None:
    found = asked(tools, "find_best_pass_sequence")
    assert found["improvement_percentage"] == 100 * found["improvement_over_oz"] > 0
    again = asked(tools, "instrcount", optimization_flags=found["best_pass_sequence"])
    assert again["instruction_count"] == found["instruction_count"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"filename": "/etc/passwd", "optimization_flags": ["-Oz"]},
        {"filename": "file:///etc/passwd", "optimization_flags": ["-Oz"]},
        {"filename": "cbench-v1_crc32.ll", "optimization_flags": []},
        {"filename": "cbench-v1_crc32.ll", "optimization_flags": ["--no-such-pass"]},
        {
            "filename": "cbench-v1_crc32.ll",
            "optimization_flags": ["--mem2reg", "-verify"],
        },
        {"filename": "cbench-v1_no-such.ll", "optimization_flags": ["-Oz"]},
    ],
)
def test_an_uncountable_program_is_reported(tools: CompilerR1, arguments: dict[str, Any]) -> None:
    assert tools.call("instrcount", arguments).startswith("error (")


@pytest.mark.slow
def test_the_table_of_the_results_is_that_of_the_leaderboard() -> None:
    page = (ROOT / "docs" / "results" / "agents.md").read_text(encoding="utf-8")
    counts: dict[str, float] = {}
    with compiler_gym.make("llvm-v0") as env:
        for title, folder in ROWS.items():
            text = (ROOT / "leaderboard" / folder / "results.jsonl").read_text(encoding="utf-8")
            rows = [json.loads(line) for line in text.splitlines()]
            for row in rows:
                if row["benchmark"] not in counts:
                    env.reset(benchmark=row["benchmark"])
                    counts[row["benchmark"]] = env.observation["IrInstructionCountOptOz"]
            its = mean(1 - row["found"] / counts[row["benchmark"]] for row in rows)
            true = mean(1 - row["found"] / row["baseline"] for row in rows)
            assert f"| {title} | {100 * its:.1f} | {100 * true:.1f} |" in page
