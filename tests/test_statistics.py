# SPDX-License-Identifier: MIT
"""Intervals contain the true mean, and one disturbed run does not count."""

import math
import random
from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.statistics import (
    bootstrap_interval,
    compare,
    compare_fastest,
    geometric_interval,
    geometric_mean,
    without_outliers,
)


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


def test_an_interval_is_that_of_students_distribution() -> None:
    # Of log ratios 0.1, 0.2, 0.3: mean 0.2, deviation 0.1, reach 4.303 * 0.1 / sqrt(3).
    found = compare([math.exp(x) for x in (0.1, 0.2, 0.3)], [1.0, 1.0, 1.0])
    reach = 4.303 * 0.1 / math.sqrt(3)
    assert math.log(found.speedup) == pytest.approx(0.2)
    assert math.log(found.low) == pytest.approx(0.2 - reach)
    assert math.log(found.high) == pytest.approx(0.2 + reach)
    assert not found.is_significant


def test_one_disturbed_run_does_not_count() -> None:
    assert without_outliers([1.0, 1.01, 0.99, 1.0, 7.0]) == [1.0, 1.01, 0.99, 1.0]
    assert compare([2.0, 2.01, 1.99, 2.0, 20.0], [1.0] * 5).high < 2.1


TIMES = st.lists(st.floats(0.01, 100.0), min_size=2, max_size=12)


@given(TIMES, st.floats(0.1, 10.0))
def test_a_constant_speedup_is_found_exactly(times: list[float], factor: float) -> None:
    found = compare([time * factor for time in times], times)
    assert found.speedup == pytest.approx(factor)
    assert found.low <= found.speedup * (1 + 1e-9)
    assert found.high >= found.speedup * (1 - 1e-9)


@given(TIMES, st.data())
def test_turning_a_comparison_round_turns_its_result_round(
    times: list[float], data: st.DataObject
) -> None:
    others = data.draw(st.lists(st.floats(0.01, 100.0), min_size=len(times), max_size=len(times)))
    one, other = compare(times, others), compare(others, times)
    assert one.speedup == pytest.approx(1 / other.speedup)
    assert one.low == pytest.approx(1 / other.high)
    assert one.is_significant == other.is_significant


@pytest.mark.parametrize(("before", "after"), [([], []), ([0.0], [1.0]), ([1.0, 2.0], [0.0, 0.0])])
def test_of_no_times_nothing_is_known(before: list[float], after: list[float]) -> None:
    found = compare(before, after)
    assert (found.speedup, found.low, found.high) == (1.0, 0.0, math.inf)
    assert not found.is_significant


def test_times_that_are_not_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        compare([1.0, 2.0], [1.0])


def test_few_or_equal_times_have_no_outliers() -> None:
    assert without_outliers([1.0, 1.0, 99.0]) == [1.0, 1.0, 99.0]
    assert without_outliers([1.0, 1.0, 1.0, 99.0]) == [1.0, 1.0, 1.0, 99.0]


def test_the_quantiles_become_those_of_the_normal_distribution() -> None:
    ratios = [0.1 if n % 2 else -0.1 for n in range(40)]
    found = compare([math.exp(x) for x in ratios], [1.0] * 40)
    assert math.log(found.high) == pytest.approx(1.960 * stdev(ratios) / math.sqrt(40))


@given(st.lists(st.floats(0.01, 100.0), min_size=5, max_size=12), st.floats(0.1, 10.0))
def test_the_fastest_runs_find_a_constant_speedup_exactly(
    times: list[float], factor: float
) -> None:
    found = compare_fastest([time * factor for time in times], times)
    assert found.speedup == pytest.approx(factor)
    assert found.low <= found.speedup <= found.high
    assert found.low == pytest.approx(factor)
    assert found.high == pytest.approx(factor)


def _runs(rng: random.Random, seconds: float, count: int) -> list[float]:
    """Return times of a program that takes `seconds`, where other work only ever adds to it."""
    return [seconds * (1 + rng.expovariate(25) + 0.1 * (rng.random() < 0.1)) for _ in range(count)]


def test_few_equal_programs_are_called_faster_and_a_small_gain_is_seen() -> None:
    rng = random.Random(0)
    same = [compare_fastest(_runs(rng, 1.0, 10), _runs(rng, 1.0, 10)).low > 1 for _ in range(300)]
    gains = [(_runs(rng, 1.0, 10), _runs(rng, 0.97, 10)) for _ in range(300)]
    assert sum(same) <= 15
    seen = sum(compare_fastest(*pair).low > 1 for pair in gains)
    assert seen >= 150
    assert seen > 2 * sum(compare(*pair).low > 1 for pair in gains)


def test_of_a_few_runs_the_fastest_say_nothing_for_certain() -> None:
    found = compare_fastest([2.0] * 4, [1.0] * 4)
    assert (found.speedup, found.low, found.high) == (2.0, 0.0, math.inf)
    assert not compare_fastest([], []).is_significant
    assert compare_fastest([0.0], [1.0]).speedup == 1.0
