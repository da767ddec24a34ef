# SPDX-License-Identifier: MIT
"""Intervals of measured speed are Student's, and a disturbed run does not count."""

import math

import pytest

from compiler_gym.envs.llvm.machine.timing import compare, without_outliers


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
