# SPDX-License-Identifier: MIT
"""The metrics of a leaderboard, with their uncertainty.

With C0, Cb and C for the cost at -O0, at the baseline and found: the share of the
baseline's saving ``(C0-C)/(C0-Cb)``, the ratio ``Cb/C`` and the saving beyond the
baseline ``(Cb-C)/Cb``. Where publications compare with another baseline, Cp, its share
``(C0-C)/(C0-Cp)`` stands beside. Means are geometric over programs; their intervals come from
drawing programs again and again (the bootstrap), because it is programs that results
are generalised to.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = [
    "ScoreInterval",
    "ScoreSummary",
    "ScoredCost",
    "geometric_interval",
    "geometric_mean",
    "summarise",
]

RESAMPLES = 10_000
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class ScoredCost:
    """What was measured on one program, the median of its repetitions."""

    program: str
    initial: float
    baseline: float
    found: float
    published: float | None = None
    """At the baseline of publications, where there is another."""

    @property
    def share(self) -> float | None:
        """``(C0-C)/(C0-Cb)``; None where the baseline saves nothing."""
        return self._compute_share(self.baseline)

    @property
    def published_share(self) -> float | None:
        """``(C0-C)/(C0-Cp)``; None where that baseline saves nothing or is not known."""
        return None if self.published is None else self._compute_share(self.published)

    @property
    def ratio(self) -> float | None:
        """``Cb/C``; None where one of them is nothing."""
        return self.baseline / self.found if self.found > 0 and self.baseline > 0 else None

    def _compute_share(self, baseline: float) -> float | None:
        saved = self.initial - baseline
        return (self.initial - self.found) / saved if saved > 0 else None


@dataclass(frozen=True, slots=True)
class ScoreInterval:
    """A mean and the bounds of its 95 % confidence interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.4f} [{self.low:.4f}, {self.high:.4f}]"


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """The metrics over all programs; one is None where it has no geometric mean."""

    programs: int
    share: ScoreInterval | None
    ratio: ScoreInterval | None
    saving: ScoreInterval | None
    """``(Cb-C)/Cb``: 1 - geomean(C/Cb), because a saving of 0 has no geometric mean."""
    improved: float
    """The fraction of programs that cost less than the baseline."""
    outliers: tuple[str, ...]
    """Programs whose ratio lies beyond 1.5 interquartile ranges."""
    ratio_without_outliers: ScoreInterval | None
    published_share: ScoreInterval | None = None
    """``(C0-C)/(C0-Cp)``; None as well where there is no other baseline."""


def summarise(costs: Sequence[ScoredCost], *, seed: int = 0) -> ScoreSummary:
    """Return the metrics over `costs`; the same seed gives the same intervals.

    >>> found = summarise([ScoredCost("a", 200, 100, 100), ScoredCost("b", 300, 100, 50)])
    >>> round(found.ratio.mean, 4), found.improved
    (1.4142, 0.5)
    """
    ratios = {cost.program: cost.ratio for cost in costs if cost.ratio is not None}
    outliers = _outliers(ratios)
    ratio = geometric_interval(list(ratios.values()), seed)
    kept = [value for name, value in ratios.items() if name not in outliers]
    return ScoreSummary(
        programs=len(costs),
        share=geometric_interval([cost.share for cost in costs if cost.share is not None], seed),
        ratio=ratio,
        saving=None
        if ratio is None
        else ScoreInterval(*(1 - 1 / value for value in _list_numbers(ratio))),
        improved=sum(cost.found < cost.baseline for cost in costs) / len(costs) if costs else 0.0,
        outliers=outliers,
        ratio_without_outliers=geometric_interval(kept, seed),
        published_share=geometric_interval(
            [c.published_share for c in costs if c.published_share is not None], seed
        ),
    )


def geometric_mean(values: Sequence[float]) -> float | None:
    """Return the geometric mean, or None if there is no value or one is not positive."""
    if not values or min(values) <= 0:
        return None
    return math.exp(sum(map(math.log, values)) / len(values))


def _list_numbers(interval: ScoreInterval) -> tuple[float, float, float]:
    return interval.mean, interval.low, interval.high


def geometric_interval(values: Sequence[float], seed: int = 0) -> ScoreInterval | None:
    """Return the geometric mean and its interval; None for a value that is not positive.

    The values are drawn again and again, so each must stand for itself: where several are of
    one package, their mean is the value.
    """
    if not values or min(values) <= 0:
        return None
    logs = np.log(np.asarray(values, dtype=np.float64))
    drawn = np.random.default_rng(seed).integers(0, len(logs), size=(RESAMPLES, len(logs)))
    means = logs[drawn].mean(axis=1)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return ScoreInterval(math.exp(float(logs.mean())), math.exp(float(low)), math.exp(float(high)))


def _outliers(ratios: dict[str, float]) -> tuple[str, ...]:
    if len(ratios) < 4:
        return ()
    first, third = np.quantile(list(ratios.values()), [0.25, 0.75])
    reach = 1.5 * (third - first)
    return tuple(
        name for name, value in ratios.items() if not first - reach <= value <= third + reach
    )
