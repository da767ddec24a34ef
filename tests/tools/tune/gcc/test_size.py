# SPDX-License-Identifier: MIT
"""The search: repeatable, resumable, and stopped by no flag that GCC refuses."""

import math
from pathlib import Path

from compiler_gym.tools.tune import Allowance, Journal, Measure, SizeSearch, Tried
from compiler_gym.tools.tune.gcc.size import Flags, order_flags, with_flag
from tests.tools.tune.gcc.projects import maker

FLAGS = ("-fno-such-thing", "-fno-inline-small-functions", "-fipa-pta", "-fweb")
PARAMETERS = ("--param=max-inline-insns-size=1", "--param=no-such=1")


def search(folder: Path, *, compilations: int, jobs: int = 1, seed: int = 0) -> SizeSearch:
    folder.mkdir(parents=True)
    made = maker(folder)
    return SizeSearch(
        Flags(made, FLAGS, PARAMETERS, Measure.LOADED, (), seed),
        Allowance(compilations=compilations),
        Journal(made.folder / "tried.jsonl", "key"), jobs=jobs,
    )  # fmt: skip


def tried(found: SizeSearch) -> list[Tried]:
    return list(found.journal.iterate_tried())


def test_what_is_refused_is_passed_over(tmp_path: Path) -> None:
    found = search(tmp_path / "a", compilations=30)
    best = found.run()
    assert best.cost < math.inf
    assert best.cost <= found.first
    assert any("-fno-such-thing" in one.actions for one in tried(found) if one.cost == math.inf)
    assert not {"-fno-such-thing", "--param=no-such=1"} & set(best.actions)


def test_the_same_seed_and_compilations_try_the_same_on_any_number_of_threads(
    tmp_path: Path,
) -> None:
    one = search(tmp_path / "a", compilations=24)
    two = search(tmp_path / "b", compilations=24, jobs=2)
    assert one.run() == two.run()
    assert tried(one) == tried(two)
    assert len(tried(one)) <= 24


def test_what_was_tried_is_not_compiled_again(tmp_path: Path) -> None:
    first = search(tmp_path / "a", compilations=6)
    best = first.run()
    allowance = Allowance(compilations=2)
    made = first.decisions
    assert isinstance(made, Flags)
    later = SizeSearch(made, allowance, Journal(made.maker.folder / "tried.jsonl", "key"))
    assert later.run().cost <= best.cost
    assert tried(later)[:6] == tried(first)
    assert len(tried(later)) <= 8


def test_equal_states_have_one_name() -> None:
    assert order_flags(("-flto", "-O2", "-fweb", "-flto")) == order_flags(("-fweb", "-flto", "-O2"))
    assert with_flag(("-O2", "-fweb"), "-fno-web") == ("-O2", "-fno-web")
    assert with_flag(("-O2", "-fweb"), "-Oz") == ("-Oz", "-fweb")
