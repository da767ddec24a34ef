# SPDX-License-Identifier: MIT
"""A verdict says how much smaller, how sure, how often larger, and what was left out of it."""

import pytest

from compiler_gym_corpus.llvm.learning import PlanOutcome, judge_arm


def row(
    program: str, loaded: int, *, code: int = 100, package: str = "", left: int = 0
) -> PlanOutcome:
    return PlanOutcome(
        program, package or program, "test", 10, "", code, loaded, loaded, 1.0, left=left
    )


RIVAL = [row("a", 1000), row("b", 2000), row("c", 4000)]


def test_means_are_geometric_and_the_worst_program_has_a_name() -> None:
    found = judge_arm("new", [row("a", 900), row("b", 1800), row("c", 4004)], "fair", RIVAL)
    assert found.loaded.mean == pytest.approx((0.9 * 0.9 * 1.001) ** (1 / 3))
    assert (found.worst_program, found.larger, found.clearly_larger) == ("c", 1, 0)
    assert found.best == pytest.approx(0.9)
    assert found.never_larger.mean == pytest.approx(0.9 ** (2 / 3))
    assert found.loaded.low < found.loaded.mean < found.loaded.high


def test_a_package_counts_once_however_many_programs_it_has() -> None:
    ours = [row("a", 500, package="p"), row("b", 1000, package="p"), row("c", 4000)]
    theirs = [row("a", 1000, package="p"), row("b", 2000, package="p"), row("c", 4000)]
    found = judge_arm("new", ours, "fair", theirs)
    assert (found.programs, found.packages) == (3, 2)
    assert found.loaded.mean == pytest.approx(0.5**0.5)


def test_a_program_that_fails_is_named_and_not_counted() -> None:
    found = judge_arm("new", [row("a", 900), row("b", 0, code=0), row("c", 4000)], "fair", RIVAL)
    assert (found.programs, found.failed) == (2, ("b",))


def test_instructions_are_compared_where_they_were_counted() -> None:
    assert judge_arm("new", RIVAL, "fair", RIVAL).left is None
    found = judge_arm("new", [row("a", 1, left=50)], "fair", [row("a", 1, left=100)])
    assert found.left is not None
    assert found.left.mean == pytest.approx(0.5)
