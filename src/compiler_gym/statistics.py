# SPDX-License-Identifier: MIT
"""Means and their intervals: geometric for ratios, by bootstrap for values of any distribution."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 10_000
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the bounds of its 95 % confidence interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.4f} [{self.low:.4f}, {self.high:.4f}]"


def geometric_mean(values: Sequence[float]) -> float | None:
    """Return the geometric mean, or None if `values` is empty or not all positive."""
    if not values or min(values) <= 0:
        return None
    return math.exp(sum(map(math.log, values)) / len(values))


def geometric_interval(values: Sequence[float], seed: int = 0) -> Interval | None:
    """Return the geometric mean and its interval; None unless all values are positive."""
    if not values or min(values) <= 0:
        return None
    logs = bootstrap_interval([math.log(value) for value in values], seed)
    return Interval(math.exp(logs.mean), math.exp(logs.low), math.exp(logs.high))


def bootstrap_interval(values: Sequence[float], seed: int = 0) -> Interval:
    """Return the arithmetic mean and its interval, from resampling `values`.

    The values must be independent: average several values of one package first.

    >>> str(bootstrap_interval([2.0, 2.0]))
    '2.0000 [2.0000, 2.0000]'
    """
    sample = np.asarray(values, dtype=np.float64)
    drawn = np.random.default_rng(seed).integers(0, len(sample), size=(RESAMPLES, len(sample)))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(sample[drawn].mean(axis=1), [tail, 1 - tail])
    return Interval(float(sample.mean()), float(low), float(high))
