# SPDX-License-Identifier: MIT
"""A plan of LLVM's may say what its tuner can decide, and nothing else."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.errors import PlanError, ProjectError
from compiler_gym.tools.tune import BinaryPlan, SourceFile
from compiler_gym.tools.tune.builds import find_binaries
from compiler_gym.tools.tune.llvm.flags import FAST, FOLDING, PROGRAM, SMALL
from compiler_gym.tools.tune.llvm.llvm_tuner import LlvmTuner
from compiler_gym.tools.tune.llvm.plans import FastPlan, checked, require_tried
from tests.tools.tune.builds.projects import record, write_project
from tests.tools.tune.llvm.conftest import needs_lld
from tests.tools.tune.llvm.hot_and_cold import PLAN, linker_of, make_project

WHOLE = BinaryPlan(
    "a", PROGRAM, passes="function(gvn),globaldce", scope="internalize<preserve-gv=main>",
    linker=tuple(FOLDING[:1]),
)  # fmt: skip
pytestmark = needs_lld


def test_the_tuners_decisions_are_possible() -> None:
    checked(WHOLE)
    checked(BinaryPlan("a", SMALL))
    checked(BinaryPlan("a", FAST, linker=FOLDING, profile="profiles/a.profdata"))


@pytest.mark.parametrize(
    "changes",
    [
        {"method": "script"},
        {"passes": "print<domtree>"},
        {"passes": "function(gvn),no-such-pass"},
        {"options": {"regalloc": "/tmp/x.so"}},
        {"linker": ("-Wl,-o,/tmp/x",)},
        {"scope": "internalize<preserve-gv-file=/etc/passwd>"},
        {"flags": ("-O2",)},
    ],
)
def test_impossible_decisions_are_refused_by_name(changes: dict[str, object]) -> None:
    with pytest.raises(PlanError, match=r"which is refused|expected none"):
        checked(replace(WHOLE, **changes))  # type: ignore[arg-type]  # one field each


def test_a_journal_names_actions_alone() -> None:
    with pytest.raises(PlanError, match="fplugin"):
        require_tried("tried.jsonl", ("-fplugin=x.so",))


def test_a_plan_without_its_profile_reports_it(tmp_path: Path) -> None:
    linker = linker_of(make_project(tmp_path / "project"))
    plan = replace(PLAN, profile="/nowhere/program.profdata")
    with pytest.raises(ProjectError, match=r"program\.profdata is missing"):
        FastPlan(plan).link(linker)
    without = plan.only([name for name in plan.decisions() if name != "profile"])
    assert not without.profile
    assert FastPlan(without).link(linker).is_file()


def test_both_methods_make_the_same_bytes_in_a_tree_of_an_odd_name(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "a tree's name")
    flags = f'CFLAGS=-DN="a b" -I"{tree}"'
    recording = record(tree, tmp_path / "record", "make", flags, compiler=("clang-22",))
    (binary,) = find_binaries(recording.events(), tree)
    sources = tuple(SourceFile(name, "") for name in ("main.c", "twice.c"))
    for method in ("link-time", "program"):
        scope = "internalize<preserve-gv=main>" if method == "program" else ""
        plan = BinaryPlan("program", method, linker=FOLDING, scope=scope, sources=sources)
        made = LlvmTuner().build(binary, plan, tmp_path / method, jobs=1)
        lines = checked(plan).write_script(binary)
        script = f'set -eu\nROOT="{tree}"\nOUT="{tmp_path / method}"\n{lines}'
        subprocess.run(["sh", "-c", script], check=True, cwd="/")
        assert (tmp_path / method / "program").read_bytes() == made.read_bytes()
        assert str(tree) not in checked(plan).write_script(binary)
