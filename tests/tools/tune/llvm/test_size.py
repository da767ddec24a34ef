# SPDX-License-Identifier: MIT
"""The search for size: what it counts, what it keeps, and when it stops."""

import math
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from compiler_gym.builds import measure_sizes
from compiler_gym.files import whole_lines
from compiler_gym.tools.tune import (
    Allowance,
    BinaryPlan,
    Journal,
    Kind,
    Measure,
    Request,
    SizeSearch,
    State,
    Tried,
    TuningJob,
    list_shipped_recipes,
    list_sources,
)
from compiler_gym.tools.tune.builds import Binary
from compiler_gym.tools.tune.llvm.deciding import LINKER, UNSAFE
from compiler_gym.tools.tune.llvm.flags import FOLDING, FRAMES, PACKED, PROGRAM
from compiler_gym.tools.tune.llvm.linker import Linker
from compiler_gym.tools.tune.llvm.llvm_tuner import FAIR, FAIR_PACKED, LlvmTuner
from compiler_gym.tools.tune.llvm.plans import SmallPlan, checked
from compiler_gym.tools.tune.llvm.plugin import explain_problem, without_plugin
from compiler_gym.tools.tune.llvm.program import LlvmMaker, make_whole
from compiler_gym.tools.tune.llvm.size import SizeDecisions, list_known_plans
from tests.native.driver.trees import CC, POLICY, Tree
from tests.stand_ins import stand_in
from tests.tools.tune.llvm.conftest import BUILD, needs_lld

pytestmark = needs_lld

LAYOUT = (f"{LINKER}-Wl,-O2", "flag -fno-plt")
FOLDED = tuple(f"{LINKER}{word}" for word in FOLDING)
pytestmark = needs_lld
VERSION = LlvmTuner().version


def search(
    binary: Binary, folder: Path, compilations: int, start: State | None = None, **options: object
) -> SizeSearch:
    folder.mkdir(exist_ok=True)
    whole = make_whole(binary, binary.path, jobs=1)
    maker = LlvmMaker(Linker(binary, folder), whole, BinaryPlan("numbers", PROGRAM))
    decisions = SizeDecisions(
        maker,
        Measure.LOADED,
        LAYOUT,
        [start] if start else [],
        UNSAFE,
        is_position_independent=True,
        jobs=2,
        seed=0,
    )
    journal = Journal(folder / "tried.jsonl", "key")
    allowance = Allowance(compilations=compilations)
    return SizeSearch(decisions, allowance, journal, jobs=2, **options)  # type: ignore[arg-type]


def test_the_cost_is_of_the_file_that_the_plan_makes(binary: Binary, tmp_path: Path) -> None:
    found = search(binary, tmp_path, 12)
    best = found.run()
    decisions = found.decisions
    assert isinstance(decisions, SizeDecisions)
    made = decisions.maker.of(decisions.plan(best.actions)).make("again")
    assert measure_sizes(made).loaded == best.cost
    assert not list(tmp_path.glob("try-*"))


@pytest.mark.slow
def test_more_compilations_are_never_worse(binary: Binary, tmp_path: Path) -> None:
    costs = [search(binary, tmp_path / str(n), n).run().cost for n in (1, 8, 16)]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < math.inf


def test_it_reports_the_stages_and_the_best(binary: Binary, tmp_path: Path) -> None:
    told: list[tuple[str, float]] = []
    best = search(
        binary, tmp_path, 20, watch=stand_in(lambda stage, best: told.append((stage, best.cost)))
    ).run()
    assert [cost for _, cost in told] == sorted((cost for _, cost in told), reverse=True)
    assert told[-1][1] == best.cost
    assert {"start", "layout", "options"} <= {stage for stage, _ in told}


@pytest.mark.parametrize("start", [None, ("-Oz", "disable-lsr=true")])
def test_it_starts_from_known_results(binary: Binary, tmp_path: Path, start: State | None) -> None:
    search(binary, tmp_path, 30, start).run()
    tried = [t.actions for t in Journal(tmp_path / "tried.jsonl", "key").iterate_tried()]
    known = [] if start is None else [(*start, *FOLDED)]
    levels = [("-Oz", *FOLDED), ("lto-pre-link<Oz>", "lto<Oz>", *FOLDED)]
    assert tried[: len(known) + 2] == [*known, *levels]


def test_it_resumes_from_tried_candidates(binary: Binary, tmp_path: Path) -> None:
    first = search(binary, tmp_path, 10).run()
    assert search(binary, tmp_path, 0).run() == first


@pytest.mark.slow
def test_every_decision_that_is_left_wins_something(binary: Binary, tmp_path: Path) -> None:
    found = search(binary, tmp_path, 160)
    best = found.run()
    decisions = found.decisions
    assert isinstance(decisions, SizeDecisions)
    assert set(found.gains) == set(decisions.plan(best.actions).decisions())
    assert all(gain > 0 for gain in found.gains.values())


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
        checked(plan)


def test_files_that_a_loader_cannot_read_are_unknown() -> None:
    plans = list_known_plans("run", (), [], compiler=VERSION)
    assert not any(PACKED in plan.linker for plan in plans)
    assert {FRAMES in plan.flags for plan in plans} == {True, False}
    assert len(list_known_plans("run", (), [PACKED], compiler="llvm 9")) == 2


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
        measure.of(SmallPlan(plan).link(Linker(binary, tmp_path / str(number))))
        for number, plan in enumerate(plans)
    ]
    assert result.sizes["tuned"][measure.key] <= min(sizes)
    assert list(result.sizes)[-3:] == [FAIR_PACKED, FAIR, "tuned"]
    assert result.sizes[FAIR_PACKED][measure.key] == sizes[1]


PROGRAMS = ("crc32", "sha", "qsort", "bitcount", "gsm", "bzip2")


@pytest.mark.parametrize(
    "name", [PROGRAMS[0], *(pytest.param(p, marks=pytest.mark.slow) for p in PROGRAMS[1:])]
)
def test_it_never_ends_above_the_policy(tmp_path: Path, name: str) -> None:
    tree = Tree(tmp_path / "tree")
    shutil.copytree(Path(__file__).parents[4] / "programs" / name, tree.path)
    sources = sorted(path.name for path in tree.path.glob("*.c"))
    objects = [f"{source}.o" for source in sources]
    compiled = "".join(f"$CC -O2 -c {s} -o {o} && " for s, o in zip(sources, objects, strict=True))
    build = f"{compiled}$CC {' '.join(objects)} -lm -o {name}"
    environment = {**os.environ, "CC": f"{CC} {POLICY}"}
    request = Request(("sh", "-ec", build), tree.path, tmp_path / "out", compilations=2)
    (result,) = TuningJob(request, LlvmTuner()).run()
    subprocess.run(["sh", "-ec", build], cwd=tree.path, env=environment, check=True)
    policy = Measure.LOADED.of(tree.path / name)
    assert result.sizes["tuned"]["loaded"] <= policy
    tried = [line.actions[0] for line in result_journal(tmp_path / "out")]
    assert tried[0] == "policy" or result.sizes["tuned"]["loaded"] < policy


def result_journal(output: Path) -> list[Tried]:
    """Return what a tuning has tried, in order."""
    (path,) = output.glob("work/binaries/*/tried.jsonl")
    (key,) = {line["key"] for line in whole_lines(path)}
    return list(Journal(path, key).iterate_tried())
