# SPDX-License-Identifier: MIT
"""LLVM's part of a tuning by runs: what it builds, learns and refuses."""

from dataclasses import replace
from pathlib import Path

from compiler_gym.tools.tune.llvm.fast import LlvmFastDecisions
from tests.tools.tune.llvm.hot_and_cold import linker_of, make_project, run_of


def test_its_plain_plan_is_the_fair_rival_and_its_profile_is_one_of_its_own(
    tmp_path: Path,
) -> None:
    decisions = LlvmFastDecisions(linker_of(make_project(tmp_path / "project")))
    notes = list[str]()
    profile = decisions.train_profile(run_of(decisions.linker.binary), notes)
    assert str(profile) in decisions.profiles
    plan = replace(decisions.plain(), profile=str(profile))
    decisions.require_possible(plan)
    made = decisions.build(plan, jobs=1)
    assert made.read_bytes() != decisions.build(decisions.plain(), jobs=2).read_bytes()


def test_a_sampled_profile_knows_no_callers(tmp_path: Path) -> None:
    decisions = LlvmFastDecisions(linker_of(make_project(tmp_path / "project")))
    plan = replace(decisions.plain(), profile="given/program.afdo")
    run = run_of(decisions.linker.binary)
    assert decisions.with_callers(plan, run, []) is None
