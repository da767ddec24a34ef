# SPDX-License-Identifier: MIT
"""Builds from smallest to fastest, of which none is both larger and slower than another."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.tools.tune.plan import BinaryPlan

__all__ = ["FrontBuild", "recommend_build", "select_front"]

_MOST = 8
_FASTER = 1.005
"""How many times as fast a larger build must be to be worth showing."""
_WORTH = 4
"""How many per cent of code one per cent of speed is worth where nobody says it."""


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


def select_front(builds: Iterable[FrontBuild]) -> tuple[FrontBuild, ...]:
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


def recommend_build(
    builds: Sequence[FrontBuild],
    fair: int,
    *,
    max_slowdown: float | None = None,
    max_growth: float | None = None,
) -> FrontBuild | None:
    """Return the build of a front that fits best, or None where none is within the bounds.

    Bounds are fractions of the fair rival's time and of its `fair` bytes of code. With a bound of
    time alone it is the smallest, with a bound of growth alone the fastest that fits. Otherwise one
    per cent of speed is worth four per cent of code, among those that are no slower than the fair
    rival, if there are some.
    """
    fitting = [
        build
        for build in builds
        if (max_slowdown is None or build.speedup >= 1 / (1 + max_slowdown))
        and (max_growth is None or build.code <= fair * (1 + max_growth))
    ]
    if not fitting:
        return None
    if max_slowdown is not None and max_growth is None:
        return min(fitting, key=lambda build: build.code)
    fastest = max(fitting, key=lambda build: build.speedup)
    if max_growth is not None and max_slowdown is None:
        return fastest
    no_slower = [build for build in fitting if build.speedup >= 1] or [fastest]
    return max(no_slower, key=lambda build: build.speedup**_WORTH / max(build.code, 1))
