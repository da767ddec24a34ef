# SPDX-License-Identifier: MIT
"""Planted errors are caught, each is judged once, and the tables count them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import planted as benchmark
from benchmarks.planted import (
    KINDS,
    RUNGS,
    Planted,
    detection_table,
    figures,
    planted,
    programs_table,
    rungs_table,
)
from compiler_gym.runs import RunFolder
from tests.stand_ins import stand_in

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")
SURE = ("flipped predicate", "dropped call", "wrong return value")


@pytest.fixture
def few_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make few inputs: the tests are not about what they reach."""
    made: Callable[..., object] = benchmark.make_corpus
    few = benchmark.Effort(tries=20)
    monkeypatch.setattr(
        benchmark, "make_corpus", stand_in(lambda program, effort=few: made(program, effort))
    )


@pytest.mark.slow
def test_given_errors_are_caught_and_kept(
    few_inputs: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RunFolder.open(tmp_path, "evaluation", {}) as run:
        rows = planted(["bitcount"], each=1, oracle=0, kinds=SURE, run=run, is_quiet=True)
    assert [row.kind for row in rows] == list(SURE)
    assert sum(row.outcome in RUNGS for row in rows) >= 2, rows
    assert all(row.seconds for row in rows)
    monkeypatch.setattr(benchmark, "_ground", None)  # nothing is judged again
    with RunFolder.open(tmp_path, "evaluation", {}) as run:
        assert planted(["bitcount"], each=1, oracle=0, kinds=SURE, run=run, is_quiet=True) == rows


@pytest.mark.slow
def test_hardly_an_error_with_an_effect_is_missed() -> None:
    rows = planted(["qsort", "bitcount"], each=1, is_quiet=True)
    seen = [row for row in rows if row.outcome in RUNGS]
    missed = [row for row in rows if row.outcome == "missed"]
    assert len(rows) > 40
    assert len(missed) <= 0.05 * len(seen), missed


ROWS = [
    Planted("a", "dropped store", "f", "x", "y", "run", {"run": 1.0}),
    Planted("a", "dropped store", "g", "x", "y", "generated", {"run": 2.0, "generated": 4.0}),
    Planted("b", "lost mask", "f", "x", "y", "missed", {"run": 3.0, "generated": 8.0}),
    Planted("b", "lost mask", "f", "z", "y", "not shown to differ", {"run": 3.0}),
]


def test_the_tables_hide_nothing() -> None:
    table = detection_table(ROWS)
    assert "| dropped store | 2 | 1 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |" in table
    assert "| lost mask | 2 | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 0 | 1 | 0 |" in table
    assert "| all | 4 |" in table
    assert "2 of the 3 whose effect some input shows are reported." in table
    assert "| `run` | 4 | 1 | 2.5 | 3 |" in rungs_table(ROWS)
    assert "| b | 2 | 0 | 1 | 0 | 1 | 0 |" in programs_table(ROWS)


def test_the_figures_are_shares_of_the_effective_actions() -> None:
    found = {figure.name: figure.value for figure in figures(ROWS)}
    assert found["errors with an effect that are reported"] == pytest.approx(200 / 3)
    assert found["of them by generated first"] == pytest.approx(100 / 3)
    assert found["errors not shown to differ"] == 1


def test_equal_code_is_recognised_under_other_value_names() -> None:
    text = "define i32 @f(i32 %0) {\n  %2 = add i32 %0, 0\n  ret i32 %2\n}\n"
    other = "define i32 @f(i32 %0) {\n  ret i32 %0\n}\n"
    wrong = "define i32 @f(i32 %0) {\n  ret i32 1\n}\n"
    same = benchmark._optimised  # pyright: ignore[reportPrivateUsage]  # tested on its own
    assert same(text.encode()) == same(other.encode()) != same(wrong.encode())


def test_a_share_is_a_sample_of_the_kinds() -> None:
    shares = [set(list(KINDS)[n::6]) for n in range(6)]
    assert set().union(*shares) == set(KINDS)
