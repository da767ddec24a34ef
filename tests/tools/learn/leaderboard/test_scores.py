# SPDX-License-Identifier: MIT
"""Means are geometric, intervals are those of the bootstrap."""

import math

import numpy as np
import pytest

from compiler_gym.tools.learn.leaderboard import ScoredCost, summarise


def costs(*found: float) -> list[ScoredCost]:
    return [ScoredCost(str(i), 200, 100, value) for i, value in enumerate(found)]


def test_the_three_metrics_are_those_of_the_definitions() -> None:
    summary = summarise(costs(100, 50))
    assert summary.share is not None
    assert summary.ratio is not None
    assert summary.saving is not None
    assert summary.share.mean == pytest.approx(math.sqrt(1.0 * 1.5))
    assert summary.ratio.mean == pytest.approx(math.sqrt(2))
    assert summary.saving.mean == pytest.approx(1 - 1 / math.sqrt(2))
    assert summary.improved == 0.5


def test_intervals_hold_the_mean_and_repeat_themselves() -> None:
    values = np.random.default_rng(1).uniform(60, 140, 23)
    first, again = (summarise(costs(*values), seed=3) for _ in range(2))
    assert first == again
    assert first.ratio is not None
    assert first.ratio.low < first.ratio.mean < first.ratio.high
    # Close to the interval of a normal distribution of the logarithms.
    logs = np.log(100 / values)
    half = 1.96 * logs.std() / math.sqrt(len(logs))
    assert math.log(first.ratio.high / first.ratio.mean) == pytest.approx(half, rel=0.15)


def test_equal_results_have_no_width() -> None:
    ratio = summarise(costs(100, 100, 100)).ratio
    assert ratio is not None
    assert (ratio.low, ratio.high) == (pytest.approx(1), pytest.approx(1))


def test_a_program_that_grew_has_no_share_to_take_a_geometric_mean_of() -> None:
    summary = summarise(costs(100, 250))
    assert summary.share is None
    assert summary.ratio is not None


def test_a_baseline_that_saves_nothing_is_left_out_of_the_share() -> None:
    summary = summarise([ScoredCost("a", 100, 100, 90), *costs(100)])
    assert summary.share is not None
    assert summary.share.mean == 1
