# SPDX-License-Identifier: MIT
"""The evaluation of CompilerGym 0.2.5, by its name and its options."""

from pathlib import Path
from typing import Any

import pytest

from compiler_gym import CompilerEnvStateReader
from compiler_gym.tools.learn.leaderboard.llvm_instcount import eval_llvm_instcount_policy

FEW = ["--max_benchmarks=2", "--n=2"]


def policy(env: Any) -> None:
    for name in ("sroa", "instcombine", "simplifycfg", "gvn"):
        env.step(env.action_space[name])


def test_results_are_states_and_are_summed_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results.csv"
    eval_llvm_instcount_policy(policy, [*FEW, f"--leaderboard_results={results}"])
    printed = capsys.readouterr().out
    states = list(CompilerEnvStateReader.read_paths([results]))
    assert [state.benchmark.rpartition("/")[2] for state in states] == [
        "adpcm", "bitcount", "adpcm", "bitcount",
    ]  # fmt: skip
    assert all(state.reward is not None and state.reward > 0 for state in states)
    assert "Number of inferences: 4" in printed
    assert "Geometric mean of the reward: 0." in printed
    assert "validated 4 states" in printed
    assert ": 0 wrong" in printed


def test_existing_results_are_not_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results.csv"
    arguments = [*FEW, f"--leaderboard_results={results}", "--novalidate", "--resume"]
    eval_llvm_instcount_policy(policy, arguments)
    text = results.read_text()

    def never(env: Any) -> None:
        raise AssertionError("played again")

    eval_llvm_instcount_policy(never, arguments)
    assert results.read_text() == text


def test_without_resume_a_file_of_results_begins_anew(tmp_path: Path) -> None:
    results = tmp_path / "results.csv"
    results.write_text("benchmark,reward,walltime,commandline\nbenchmark://x-v0/y,1.0,1.0,opt\n")
    arguments = [
        "--max_benchmarks=1", "--n=1", f"--leaderboard_results={results}", "--validate=false",
        "--test_dataset=cbench-v1", f"--leaderboard_logfile={tmp_path / 'log'}",
    ]  # fmt: skip
    eval_llvm_instcount_policy(policy, arguments)
    (state,) = CompilerEnvStateReader.read_paths([results])
    assert state.benchmark == "benchmark://cbench-v1/adpcm"
