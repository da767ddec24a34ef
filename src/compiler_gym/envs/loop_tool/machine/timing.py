# SPDX-License-Identifier: MIT
"""What repeated runs of nests say: an estimate, and how sure it is. Plain arithmetic."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, stdev
from typing import Any

from compiler_gym.timing import without_outliers

__all__ = ["Timing", "timing_of"]

_NORMAL = 1.96


@dataclass(frozen=True, slots=True)
class Timing:
    """What repeated runs of a nest say."""

    gflops: float
    low: float
    """The lower end of the 95 % interval."""
    high: float
    """Its upper end."""
    seconds: float
    """One run."""
    runs: int
    threads: int
    pinned: bool
    """Whether the process was held on one core."""

    @property
    def noise(self) -> float:
        """Half the interval, as a share of the estimate."""
        return (self.high - self.low) / (2 * self.gflops) if self.gflops else 0.0

    def facts(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {**{name: getattr(self, name) for name in self.__slots__}, "noise": self.noise}


def timing_of(
    times: Sequence[float], operations: int, *, runs: int, threads: int, pinned: bool
) -> Timing:
    """Return what `times`, the seconds of one run each, say of a nest of so many operations.

    The estimate is the median of what is left without outliers; its error that of the mean,
    times 1.25, as for a median of what is distributed normally.

    >>> timing = timing_of([1.0, 1.0, 1.0], 10**9, runs=3, threads=1, pinned=False)
    >>> timing.gflops, timing.noise
    (1.0, 0.0)
    """
    kept = without_outliers(times)
    seconds = max(median(kept), 1e-9)
    spread = stdev(kept) / math.sqrt(len(kept)) if len(kept) > 1 else seconds / 2
    reach = min(1.25 * _NORMAL * spread, 0.9 * seconds)
    work = operations / 1e9
    return Timing(
        gflops=work / seconds,
        low=work / (seconds + reach),
        high=work / (seconds - reach),
        seconds=seconds,
        runs=runs,
        threads=threads,
        pinned=pinned,
    )
