# SPDX-License-Identifier: MIT
"""The metrics of a comparison are those of their definitions."""

import pytest

from compiler_gym.envs.llvm.demonstration.comparison import (
    METRICS,
    Comparison,
    mean_of,
    summary,
)


def compared(oz: int, found: int, *, o0: int = 200) -> Comparison:
    return Comparison("p", "benchmark://p/p", o0, o0, 150, oz, oz, found, ["-Oz"], "opt")


def test_the_metrics_are_what_their_names_say() -> None:
    row = compared(100, 80)
    assert (row.cost.share, row.cost.ratio, row.saving) == (1.2, 1.25, 0.2)
    means = summary([row, compared(100, 100)])
    assert means[METRICS[1]] == pytest.approx(1.25**0.5)
    assert means[METRICS[2]] == pytest.approx(1 - 1 / 1.25**0.5)


def test_a_baseline_that_saves_nothing_has_no_share() -> None:
    assert compared(200, 190).cost.share is None
    assert mean_of([None]) is None
    assert mean_of([1.0, -1.0]) is None
