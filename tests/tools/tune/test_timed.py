# SPDX-License-Identifier: MIT
"""What the end of a search needs is put aside, and nothing begins that would not end in time."""

from pathlib import Path

import pytest

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import Allowance, Goal, Journal, TuningSubject
from compiler_gym.tools.tune.llvm.fast import LlvmFastDecisions
from compiler_gym.tools.tune.llvm.link_time import build_plan
from compiler_gym.tools.tune.timed import TimingBench
from tests.tools.tune.llvm.hot_and_cold import PLAN, linker_of, make_project, run_of


def bench_of(folder: Path, seconds: float, text: str = "./program 1000") -> TimingBench:
    linker = linker_of(make_project(folder / "project"))
    run = run_of(linker.binary, text)
    allowance = Allowance(seconds=seconds).begin()
    subject = TuningSubject(linker.binary, linker.folder, Goal.SPEED, allowance, 1, 0, run=run)
    fair, journal = build_plan(linker, PLAN), Journal(folder / "journal", "")
    return TimingBench(LlvmFastDecisions(linker), subject, fair, journal)


def test_a_long_run_is_compared_in_fewer_rounds_and_that_is_said(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 30.0, "sleep 0.8; ./program 1000")
    bench.begin()
    assert bench.rounds < 5
    assert f"in {bench.rounds} rounds instead of 10" in bench.notes[0]


def test_the_last_comparison_and_the_proof_are_in_the_time(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 60.0)
    bench.begin()
    kept = bench.subject.allowance.seconds_left - bench.seconds_left
    assert kept >= bench.compared * (bench.rounds + 1) * bench.wall
    assert bench.has_time(builds=1)
    bench.build_seconds = 100.0
    assert not bench.has_time(builds=1)
    assert not bench.has_time(runs=1e6)


def test_a_build_that_is_equal_to_another_is_not_timed(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 60.0)
    bench.begin()
    assert bench.build_plans({"same": PLAN}) == {}
    assert bench.count == 1


def test_a_program_that_fails_when_built_by_clang_is_no_baseline(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 60.0, "./program 1000; exit 7")
    with pytest.raises(ProjectError, match="status 7 for the build with"):
        bench.begin()
