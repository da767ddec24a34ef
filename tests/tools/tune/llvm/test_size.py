# SPDX-License-Identifier: MIT
"""The search for size: what it counts, what it keeps, and when it stops."""

import math
from pathlib import Path

import pytest

from compiler_gym.builds import measure_sizes
from compiler_gym.tools.tune import Allowance, BinaryPlan, Journal, Measure, SizeSearch, State
from compiler_gym.tools.tune.builds import Binary
from compiler_gym.tools.tune.llvm.deciding import LINKER, UNSAFE
from compiler_gym.tools.tune.llvm.linking import FOLDING, PROGRAM, Linker
from compiler_gym.tools.tune.llvm.making import LlvmMaker
from compiler_gym.tools.tune.llvm.size import SizeDecisions
from compiler_gym.tools.tune.llvm.whole import make_whole
from tests.stand_ins import stand_in
from tests.tools.tune.llvm.conftest import needs_lld

pytestmark = needs_lld

LAYOUT = (f"{LINKER}-Wl,-O2", "flag -fno-plt")
FOLDED = tuple(f"{LINKER}{word}" for word in FOLDING)


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
    found = search(binary, tmp_path, 100)
    best = found.run()
    decisions = found.decisions
    assert isinstance(decisions, SizeDecisions)
    assert set(found.gains) == set(decisions.plan(best.actions).decisions())
    assert all(gain > 0 for gain in found.gains.values())
