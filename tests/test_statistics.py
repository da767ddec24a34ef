# SPDX-License-Identifier: MIT
"""Means of ratios are geometric, and intervals come from resampling."""

import pytest

from compiler_gym.statistics import bootstrap_interval, geometric_interval, geometric_mean


@pytest.mark.parametrize(("values", "mean"), [([1, 4], 2.0), ([], None), ([1, 0], None)])
def test_geometric_means(values: list[float], mean: float | None) -> None:
    assert geometric_mean(values) == mean


def test_an_interval_holds_its_mean_and_its_seed_repeats_it() -> None:
    values = [0.5, 1.0, 2.0, 4.0]
    interval = geometric_interval(values, seed=1)
    assert interval is not None
    assert interval.mean == pytest.approx(2**0.5)
    assert interval.low < interval.mean < interval.high
    assert geometric_interval(values, seed=1) == interval
    assert geometric_interval([0.0, 1.0]) is geometric_interval([]) is None
    assert bootstrap_interval([3.0]).low == 3.0
