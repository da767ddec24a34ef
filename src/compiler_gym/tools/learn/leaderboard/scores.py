# SPDX-License-Identifier: MIT
"""The metrics of a leaderboard, with their uncertainty.

C0, Cb and C are the costs at -O0, at the baseline and after the policy. The metrics are the share
of the baseline's saving ``(C0-C)/(C0-Cb)``, the ratio ``Cb/C`` and the saving over the baseline
``(Cb-C)/Cb``. If publications use another baseline, Cp, there is also its share
``(C0-C)/(C0-Cp)``. Means are geometric over programs. Their intervals come from bootstrapping
programs, because results should generalise to other programs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from compiler_gym.statistics import Interval, geometric_interval


@dataclass(frozen=True, slots=True)
class ScoredCost:
    """The measured costs of one program: the median of its repetitions."""

    program: str
    initial: float
    baseline: float
    found: float
    published: float | None = None
    """The cost at the baseline used in publications, if it differs."""

    def share(self, baseline: float | None) -> float | None:
        """Return ``(C0-C)/(C0-Cb)``; None if the baseline is unknown or saves nothing."""
        saved = 0.0 if baseline is None else self.initial - baseline
        return (self.initial - self.found) / saved if saved > 0 else None

    @property
    def ratio(self) -> float | None:
        """``Cb/C``; None if either is zero."""
        return self.baseline / self.found if self.found > 0 and self.baseline > 0 else None


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """The metrics over all programs; None for a metric without a geometric mean."""

    programs: int
    share: Interval | None
    published_share: Interval | None
    """``(C0-C)/(C0-Cp)``; None also if there is no other baseline."""
    ratio: Interval | None
    saving: Interval | None
    """``(Cb-C)/Cb``: 1 - geomean(C/Cb), because a saving of 0 has no geometric mean."""
    improved: float
    """The fraction of programs that cost less than the baseline."""


def summarise(costs: Sequence[ScoredCost], *, seed: int = 0) -> ScoreSummary:
    """Return the metrics over `costs`; the same seed gives the same intervals.

    >>> summary = summarise([ScoredCost("a", 200, 100, 100), ScoredCost("b", 300, 100, 50)])
    >>> round(summary.ratio.mean, 4), summary.improved
    (1.4142, 0.5)
    """

    def mean(values: list[float | None]) -> Interval | None:
        return geometric_interval([value for value in values if value is not None], seed)

    ratio = mean([cost.ratio for cost in costs])
    bounds = None if ratio is None else (ratio.mean, ratio.low, ratio.high)
    return ScoreSummary(
        programs=len(costs),
        share=mean([cost.share(cost.baseline) for cost in costs]),
        published_share=mean([cost.share(cost.published) for cost in costs]),
        ratio=ratio,
        saving=None if bounds is None else Interval(*(1 - 1 / value for value in bounds)),
        improved=sum(cost.found < cost.baseline for cost in costs) / len(costs) if costs else 0.0,
    )
