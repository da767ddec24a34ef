# SPDX-License-Identifier: MIT
"""GCC as a tuner: what it finds, what it makes of a plan, and what it refuses."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.builds import function_sizes, measure_sizes, read_code
from compiler_gym.errors import EnvironmentNotSupported, PlanError, ProjectError
from compiler_gym.tools.tune import BinaryPlan, Goal, Request, TuningJob, read_plan
from compiler_gym.tools.tune.builds import symbols_beside
from compiler_gym.tools.tune.explaining import sizes_by_function
from compiler_gym.tools.tune.gcc.gcc_tuner import FAIR, GccTuner
from tests.tools.tune.builds.projects import write_project
from tests.tools.tune.gcc.projects import GCC, needed, program, subject


def test_it_is_never_larger_than_the_fair_rival_and_its_plan_makes_it_again(
    tmp_path: Path,
) -> None:
    given = subject(tmp_path, compilations=12)
    tuner = GccTuner(GCC)
    found = tuner.tune(given)
    assert list(found.rivals)[-1] == FAIR
    assert measure_sizes(found.path).text <= min(
        measure_sizes(found.rivals[name]).text for name in found.rivals if name != "your flags"
    )
    again = tuner.build(given.binary, found.plan, tmp_path / "again", jobs=2)
    assert again.read_bytes() == found.path.read_bytes()
    assert [source.path for source in found.plan.sources] == ["main.c", "twice.c"]


def test_sizes_are_told_by_function_and_by_source(tmp_path: Path) -> None:
    found = GccTuner(GCC).tune(subject(tmp_path, compilations=2))
    functions = {row.name: row for row in sizes_by_function(found)}
    assert functions["main"].source == "main.c"
    assert functions["main"].before > 0
    assert functions["main"].after > 0
    symbols = function_sizes(symbols_beside(found.path))
    assert functions["main"].after == symbols["main"]
    assert read_code(symbols_beside(found.path)) == read_code(found.path)


def test_each_decision_can_be_taken_back(tmp_path: Path) -> None:
    binary = program(tmp_path)
    plan = BinaryPlan("program", "gcc", flags=("-flto", "-fno-gcse"), linker=("-Wl,--gc-sections",))
    for decision in plan.decisions():
        rest = plan.only([other for other in plan.decisions() if other != decision])
        made = GccTuner(GCC).build(binary, rest, tmp_path / decision, jobs=1)
        assert os.access(made, os.X_OK)


def test_what_it_cannot_do_is_said(tmp_path: Path) -> None:
    given = subject(tmp_path, compilations=1, goal=Goal.SPEED)
    with pytest.raises(ProjectError, match="GCC cannot use the profile"):
        GccTuner(GCC).tune(replace(given, profile=tmp_path / "perf.data"))
    plan = BinaryPlan("program", "gcc", flags=("-fno-such-thing",))
    with pytest.raises(PlanError, match="-fno-such-thing"):
        GccTuner(GCC).build(given.binary, plan, tmp_path / "x", jobs=1)
    with pytest.raises(PlanError, match="GCC needs 'gcc'"):
        GccTuner(GCC).script(given.binary, replace(plan, method="program"))
    with pytest.raises(EnvironmentNotSupported, match="no-such-gcc"):
        _ = GccTuner("no-such-gcc").compilers


def test_link_time_optimisation_of_the_build_is_left_to_the_plan(tmp_path: Path) -> None:
    needed()
    tree = write_project(tmp_path / "tree")
    build = ("make", "CFLAGS=-flto -ffat-lto-objects")
    request = Request(build, tree, tmp_path / "out", compilations=1, seconds=None)
    (result,) = TuningJob(request, GccTuner(GCC)).run()
    assert result.sizes["tuned"]["loaded"] <= result.sizes[FAIR]["loaded"]


def test_a_project_is_tuned_from_its_build_to_what_is_handed_over(tmp_path: Path) -> None:
    needed()
    tree = write_project(tmp_path / "tree")
    request = Request(("make",), tree, tmp_path / "out", compilations=6, seconds=None)
    (result,) = TuningJob(request, GccTuner(GCC)).run()
    plan = read_plan(tmp_path / "out" / "tuned.toml")
    assert plan.compiler.startswith(f"{GCC} ")
    assert plan.binaries[0].method == "gcc"
    assert result.sizes["tuned"]["loaded"] <= result.sizes[FAIR]["loaded"]
