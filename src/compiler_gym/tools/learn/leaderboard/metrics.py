# SPDX-License-Identifier: MIT
"""The metrics of a leaderboard, with their uncertainty.

C0, Cb and C are the costs at -O0, at the baseline and after the policy. The metrics are the share
of the baseline's saving ``(C0-C)/(C0-Cb)``, the ratio ``Cb/C`` and the saving over the baseline
``(Cb-C)/Cb``. If publications use another baseline, Cp, there is also its share
``(C0-C)/(C0-Cp)``. Means are geometric over programs. Their intervals come from bootstrapping
programs, because results should generalise to other programs.
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
    """The measured costs of one program: the median of its repetitions."""

    program: str
    initial: float
    baseline: float
    found: float
    published: float | None = None
    """The cost at the baseline used in publications, if it differs."""

    @property
    def share(self) -> float | None:
        """``(C0-C)/(C0-Cb)``; None if the baseline saves nothing."""
        return self._compute_share(self.baseline)

    @property
    def published_share(self) -> float | None:
        """``(C0-C)/(C0-Cp)``; None if that baseline saves nothing or is unknown."""
        return None if self.published is None else self._compute_share(self.published)

    @property
    def ratio(self) -> float | None:
        """``Cb/C``; None if either is zero."""
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
    """The metrics over all programs; None for a metric without a geometric mean."""

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
    """``(C0-C)/(C0-Cp)``; None also if there is no other baseline."""


def summarise(costs: Sequence[ScoredCost], *, seed: int = 0) -> ScoreSummary:
    """Return the metrics over `costs`; the same seed gives the same intervals.

    >>> summary = summarise([ScoredCost("a", 200, 100, 100), ScoredCost("b", 300, 100, 50)])
    >>> round(summary.ratio.mean, 4), summary.improved
    (1.4142, 0.5)
    """
    ratios = {cost.program: cost.ratio for cost in costs if cost.ratio is not None}
    outliers = _outliers(ratios)
    ratio = geometric_interval(list(ratios.values()), seed)
    typical = [value for name, value in ratios.items() if name not in outliers]
    return ScoreSummary(
        programs=len(costs),
        share=geometric_interval([cost.share for cost in costs if cost.share is not None], seed),
        ratio=ratio,
        saving=None
        if ratio is None
        else ScoreInterval(*(1 - 1 / value for value in _bounds(ratio))),
        improved=sum(cost.found < cost.baseline for cost in costs) / len(costs) if costs else 0.0,
        outliers=outliers,
        ratio_without_outliers=geometric_interval(typical, seed),
        published_share=geometric_interval(
            [c.published_share for c in costs if c.published_share is not None], seed
        ),
    )


def geometric_mean(values: Sequence[float]) -> float | None:
    """Return the geometric mean, or None if `values` is empty or not all positive."""
    if not values or min(values) <= 0:
        return None
    return math.exp(sum(map(math.log, values)) / len(values))


def _bounds(interval: ScoreInterval) -> tuple[float, float, float]:
    return interval.mean, interval.low, interval.high


def geometric_interval(values: Sequence[float], seed: int = 0) -> ScoreInterval | None:
    """Return the geometric mean and its interval; None unless all values are positive.

    The interval is a bootstrap, so the values must be independent: average several values of
    one package first.
    """
    if not values or min(values) <= 0:
        return None
    logs = np.log(np.asarray(values, dtype=np.float64))
    samples = np.random.default_rng(seed).integers(0, len(logs), size=(RESAMPLES, len(logs)))
    means = logs[samples].mean(axis=1)
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
