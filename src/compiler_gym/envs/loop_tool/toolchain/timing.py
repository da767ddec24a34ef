# SPDX-License-Identifier: MIT
"""What repeated runs of a nest say, in GFLOPS. Plain arithmetic."""

from dataclasses import dataclass
from typing import Any

from compiler_gym.envs.loop_tool.jit import Estimate

__all__ = ["Timing"]


@dataclass(frozen=True, slots=True)
class Timing:
    """How fast a nest is, and how sure that is.

    >>> estimate = Estimate(0.5, 0.4, 0.625, (0.5, 0.5), 10, True)
    >>> timing = Timing(2 * 10**9, estimate, 1)
    >>> timing.gflops, timing.facts()["low"], timing.facts()["high"]
    (4.0, 3.2, 5.0)
    """

    operations: int
    """Of one run."""
    estimate: Estimate
    """The seconds of one run."""
    threads: int

    @property
    def gflops(self) -> float:
        """The operations of a nanosecond."""
        return self.operations / self.estimate.seconds / 1e9

    def facts(self) -> dict[str, Any]:
        """Return it as plain values: the interval is one of 95 %, and noise half of it."""
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
