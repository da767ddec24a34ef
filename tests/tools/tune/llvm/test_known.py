# SPDX-License-Identifier: MIT
"""A tuning ends with nothing worse than what needs no search."""

from pathlib import Path

import pytest

from compiler_gym.tools.tune import (
    PACKED,
    Kind,
    Measure,
    Request,
    TuningJob,
    list_shipped_recipes,
    list_sources,
)
from compiler_gym.tools.tune.builds import Binary
from compiler_gym.tools.tune.llvm.known import list_known_plans
from compiler_gym.tools.tune.llvm.link_time import build_plan
from compiler_gym.tools.tune.llvm.linking import FOLDING, FRAMES, Linker
from compiler_gym.tools.tune.llvm.llvm_tuner import FAIR, FAIR_PACKED, LlvmTuner
from compiler_gym.tools.tune.llvm.possible import require_possible
from compiler_gym.tools.tune.llvm.size_plugin import explain_problem, without_plugin
from tests.tools.tune.llvm.conftest import BUILD, needs_lld

pytestmark = needs_lld
VERSION = LlvmTuner().version


def test_every_recipe_and_every_plan_of_a_policy_is_known() -> None:
    plans = list_known_plans("run", (), [PACKED], compiler=VERSION)
    decided = [sorted(plan.decisions()) for plan in plans]
    assert plans[0].linker == FOLDING
    for recipe in list_shipped_recipes():
        if recipe.compiler.startswith("llvm"):
            assert sorted(recipe.plan.decisions()) in decided
    for policy in list_shipped_recipes(Kind.POLICY):
        plan = without_plugin(policy.plan) if explain_problem() else policy.plan
        packed = [*plan.decisions(), f"linker {PACKED}"]
        assert {sorted(plan.decisions()) in decided, sorted(packed) in decided} == {True}
    for plan in plans:
        require_possible(plan)


def test_files_that_a_loader_cannot_read_are_unknown() -> None:
    plans = list_known_plans("run", (), [], compiler=VERSION)
    assert not any(PACKED in plan.linker for plan in plans)
    assert {FRAMES in plan.flags for plan in plans} == {True, False}
    assert len(list_known_plans("run", (), [PACKED], compiler="llvm 9")) == 4


@pytest.mark.parametrize(
    "measure", [Measure.LOADED, pytest.param(Measure.TEXT, marks=pytest.mark.slow)]
)
def test_one_compilation_ends_no_worse_than_any_of_them(
    project: Path, binary: Binary, tmp_path: Path, measure: Measure
) -> None:
    output = tmp_path / "out"
    request = Request(("sh", "-ec", BUILD), project, output, compilations=1, measure=measure)
    (result,) = TuningJob(request, LlvmTuner()).run()
    sources = list_sources(binary, binary.units)
    plans = list_known_plans(binary.name, sources, [PACKED], compiler=VERSION)
    sizes = [
        measure.of(build_plan(Linker(binary, tmp_path / str(number)), plan))
        for number, plan in enumerate(plans)
    ]
    assert result.sizes["tuned"][measure.key] <= min(sizes)
    assert list(result.sizes)[-3:] == [FAIR_PACKED, FAIR, "tuned"]
    assert result.sizes[FAIR_PACKED][measure.key] == sizes[1]
