# SPDX-License-Identifier: MIT
"""The results of timing a nest, in GFLOPS. This module only does arithmetic."""

from dataclasses import dataclass
from typing import Any

from compiler_gym_loop_tool.jit import Estimate

__all__ = ["Timing"]


@dataclass(frozen=True, slots=True)
class Timing:
    """The speed of a nest, with its confidence interval.

    >>> estimate = Estimate(0.5, 0.4, 0.625, (0.5, 0.5), 10, True)
    >>> timing = Timing(2 * 10**9, estimate, 1)
    >>> timing.gflops, timing.facts()["low"], timing.facts()["high"]
    (4.0, 3.2, 5.0)
    """

    operations: int
    """Operations per run."""
    estimate: Estimate
    """Seconds per run."""
    threads: int

    @property
    def gflops(self) -> float:
        """Operations per nanosecond."""
        return self.operations / self.estimate.seconds / 1e9

    def facts(self) -> dict[str, Any]:
        """Return plain values, with the 95 % interval and half its relative width as noise."""
        estimate, work = self.estimate, self.operations / 1e9
        return {
            "gflops": self.gflops,
            "low": work / estimate.high,
            "high": work / estimate.low if estimate.low else None,
            "noise": estimate.noise if estimate.low else None,
            "seconds": estimate.seconds,
            "runs": estimate.runs,
            "threads": self.threads,
            "pinned": estimate.is_pinned,
        }
