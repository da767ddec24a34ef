# SPDX-License-Identifier: MIT
"""Means with their confidence intervals, and speedups from repeated measurements of two programs.

Plain arithmetic. `geometric_interval` and `bootstrap_interval` resample results, such as those of
programs. `interval` is for repeated measurements of one quantity: it drops outliers, and its
interval is Student's for the mean of the logarithms, so that twice as fast and half as fast are
equally far from no change; `compare` does the same for pairs of times. `compare_fastest` uses the
fastest runs only: other work on the machine only adds to a time, so the fastest runs are closest to
the program's own time.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Comparison",
    "Interval",
    "bootstrap_interval",
    "compare",
    "compare_fastest",
    "geometric_interval",
    "geometric_mean",
    "interval",
    "ratio_interval",
    "without_outliers",
]

_TAILS = [0.025, 0.975]
_RESAMPLES = 10_000
_RESAMPLES_OF_ROUNDS = 400
# The 97.5 % quantile of Student's distribution for 1, 2, ... degrees of freedom.
_STUDENT = [
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160),
    *(2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056),
    *(2.052, 2.048, 2.045, 2.042),
]
_NORMAL = 1.960
_FAR = 3.5
_TO_SIGMA = 1.4826
_FEWEST = 5
"""The fewest rounds for which resampling gives a usable interval."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the bounds of its 95 % confidence interval."""

    mean: float
    low: float
    """The lower end; 0 if unknown."""
    high: float
    """The upper end; infinite if unknown."""

    def __str__(self) -> str:
        return f"{self.mean:.4f} [{self.low:.4f}, {self.high:.4f}]"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The speedup of a candidate over its baseline."""

    speedup: float
    """The estimate; above 1 if the candidate is faster."""
    low: float
    """The lower end of the 95 % confidence interval; 0 if unknown."""
    high: float
    """The upper end; infinite if unknown."""

    @property
    def is_significant(self) -> bool:
        """True if the interval excludes 1."""
        return self.low > 1 or self.high < 1


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
    return ratio_interval(values, [1.0] * len(values), seed)


def ratio_interval(parts: Sequence[float], wholes: Sequence[float], seed: int = 0) -> Interval:
    """Return the sum of `parts` by that of `wholes` and its interval, from resampling the pairs.

    >>> str(ratio_interval([1.0, 2.0], [10.0, 20.0]))
    '0.1000 [0.1000, 0.1000]'
    """
    import numpy as np

    part, whole = np.asarray(parts, dtype=np.float64), np.asarray(wholes, dtype=np.float64)
    drawn = np.random.default_rng(seed).integers(0, len(part), size=(_RESAMPLES, len(part)))
    ratios = part[drawn].sum(axis=1) / whole[drawn].sum(axis=1)
    low, high = np.quantile(ratios, _TAILS)
    return Interval(float(part.sum() / whole.sum()), float(low), float(high))


def interval(values: Sequence[float], *, fewest: int = 4) -> Interval:
    """Return the mean of positive measurements with its confidence interval.

    With fewer than `fewest` measurements, no outliers are dropped.

    >>> result = interval([2.0, 2.2, 2.1, 2.0, 9.0])
    >>> round(result.mean, 2), result.low < 2 < result.high
    (2.07, True)
    >>> interval([2.0])
    Interval(mean=2.0, low=0.0, high=inf)
    """
    return _estimate([math.log(value) for value in values if value > 0], fewest)


def compare(baseline: Sequence[float], candidate: Sequence[float]) -> Comparison:
    """Return the speedup from times measured in pairs.

    >>> result = compare([2.0, 2.2, 2.1, 2.0], [1.0, 1.1, 1.0, 1.0])
    >>> round(result.speedup, 2), result.is_significant
    (2.02, True)
    >>> compare([1.0], [1.0]).high
    inf
    """
    ratios = [
        math.log(before / after)
        for before, after in zip(baseline, candidate, strict=True)
        if before > 0 and after > 0
    ]
    mean = _estimate(ratios)
    return Comparison(mean.mean, mean.low, mean.high)


def compare_fastest(baseline: Sequence[float], candidate: Sequence[float]) -> Comparison:
    """Return the speedup of the mean of the fastest third, from alternating measurements.

    The interval comes from 400 resamplings of the rounds with a fixed seed. If two equal programs
    run next to other work, it is about half as wide as that of `compare`, and excludes 1 equally
    rarely. With fewer than five rounds there is an estimate but no interval.

    >>> result = compare_fastest([2.0, 2.9, 2.0, 2.1, 2.0, 3.0], [1.0, 1.0, 1.7, 1.0, 1.1, 1.2])
    >>> round(result.speedup, 2), result.is_significant
    (2.0, True)
    """
    import numpy as np

    pairs = [(b, c) for b, c in zip(baseline, candidate, strict=True) if b > 0 and c > 0]
    if not pairs:
        return Comparison(1.0, 0.0, math.inf)
    times = np.array(pairs)
    speedup = float(_speedups(times[None])[0])
    if len(pairs) < _FEWEST:
        return Comparison(speedup, 0.0, math.inf)
    rounds = np.random.default_rng(0).integers(0, len(pairs), (_RESAMPLES_OF_ROUNDS, len(pairs)))
    low, high = np.quantile(_speedups(times[rounds]), _TAILS)
    return Comparison(speedup, min(float(low), speedup), max(float(high), speedup))


def _speedups(times: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Return the ratio of the fastest thirds for each of n samples of rounds, (n, rounds, 2)."""
    times = times.copy()
    times.sort(axis=1)
    fastest = times[:, : max(round(times.shape[1] / 3), 1)].mean(axis=1)
    return fastest[:, 0] / fastest[:, 1]


def without_outliers(values: Sequence[float]) -> list[float]:
    """Return the values within 3.5 robust standard deviations of their median.

    >>> without_outliers([1.0, 1.1, 0.9, 1.0, 9.0])
    [1.0, 1.1, 0.9, 1.0]
    """
    if len(values) < 4:
        return list(values)
    center = median(values)
    spread = _TO_SIGMA * median(abs(value - center) for value in values)
    if spread == 0:
        return list(values)
    return [value for value in values if abs(value - center) <= _FAR * spread]


def _estimate(values: Sequence[float], fewest: int = 4) -> Interval:
    sample = without_outliers(values) if len(values) >= fewest else list(values)
    if not sample:
        return Interval(1.0, 0.0, math.inf)
    center = fmean(sample)
    if len(sample) < 2:
        return Interval(math.exp(center), 0.0, math.inf)
    reach = _quantile(len(sample) - 1) * stdev(sample) / math.sqrt(len(sample))
    return Interval(math.exp(center), math.exp(center - reach), math.exp(center + reach))


def _quantile(degrees: int) -> float:
    return _STUDENT[degrees - 1] if degrees <= len(_STUDENT) else _NORMAL
