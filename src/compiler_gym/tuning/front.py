# SPDX-License-Identifier: MIT
"""Builds from smallest to fastest, of which none is both larger and slower than another."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.tuning.plan import BinaryPlan

__all__ = ["FrontBuild", "front_of", "recommended"]

_MOST = 8
_FASTER = 1.005
"""How many times as fast a larger build must be to be worth showing."""
_KEPT = 2 / 3
"""How much of what the fastest wins the recommended one keeps, at least."""


@dataclass(frozen=True, slots=True)
class FrontBuild:
    """One build of a front."""

    name: str
    """What its files are called."""
    plan: BinaryPlan
    path: Path
    """The stripped binary."""
    code: int
    """Its bytes of machine code."""
    speed: Mapping[str, float]
    """``speedup``, ``low`` and ``high`` against the fair rival."""

    @property
    def speedup(self) -> float:
        """How many times as fast as the fair rival it is."""
        return self.speed["speedup"]


def front_of(builds: Iterable[FrontBuild]) -> tuple[FrontBuild, ...]:
    """Return at most eight of `builds`, from the smallest to the fastest.

    A larger build stays only where it is at least half a per cent faster.
    """
    found: list[FrontBuild] = []
    for build in sorted(builds, key=lambda build: (build.code, -build.speedup)):
        if not found or build.speedup > found[-1].speedup * _FASTER:
            found.append(build)
    while len(found) > _MOST:
        inner = range(1, len(found) - 1)
        found.pop(min(inner, key=lambda at: found[at + 1].speedup / found[at - 1].speedup))
    return tuple(found)


def recommended(
    builds: Sequence[FrontBuild],
    fair: int,
    *,
    max_slowdown: float | None = None,
    max_growth: float | None = None,
) -> FrontBuild | None:
    """Return the build of a front that fits best, or None where none is within the bounds.

    Bounds are fractions of the fair rival's time and of its `fair` bytes of code. With a bound of
    time alone it is the smallest, with a bound of growth alone the fastest that fits. Otherwise it
    is the smallest that keeps two thirds of what the fastest wins.
    """
    fitting = [
        build
        for build in builds
        if (max_slowdown is None or build.speedup >= 1 / (1 + max_slowdown))
        and (max_growth is None or build.code <= fair * (1 + max_growth))
    ]
    if not fitting:
        return None
    fastest = max(fitting, key=lambda build: build.speedup)
    if max_growth is not None and max_slowdown is None:
        return fastest
    least = 0.0 if max_slowdown is not None else min(1, fastest.speedup)
    if max_slowdown is None:
        least = max(least, fastest.speedup**_KEPT)
    return min((b for b in fitting if b.speedup >= least), key=lambda build: build.code)
