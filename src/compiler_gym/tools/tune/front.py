# SPDX-License-Identifier: MIT
"""The front: builds from smallest to fastest, none both larger and slower than another."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.tools.tune.plan import BinaryPlan

__all__ = ["FrontBuild", "recommend_build", "select_front"]

_MOST = 8
_FASTER = 1.005
"""The speedup that a larger build needs to be worth showing."""
_WORTH = 4
"""The percentage of code that one per cent of speed is worth, without bounds from the user."""


@dataclass(frozen=True, slots=True)
class FrontBuild:
    """One build of a front."""

    name: str
    """The name of the build and its files."""
    plan: BinaryPlan
    path: Path
    """The stripped binary."""
    code: int
    """Its machine code in bytes."""
    speed: Mapping[str, float]
    """``speedup``, ``low`` and ``high`` against the baseline."""

    @property
    def speedup(self) -> float:
        """The speedup over the baseline."""
        return self.speed["speedup"]


def select_front(builds: Iterable[FrontBuild]) -> tuple[FrontBuild, ...]:
    """Return at most eight of `builds`, from the smallest to the fastest.

    A larger build is included only if it is at least half a per cent faster.
    """
    front: list[FrontBuild] = []
    for build in sorted(builds, key=lambda build: (build.code, -build.speedup)):
        if not front or build.speedup > front[-1].speedup * _FASTER:
            front.append(build)
    while len(front) > _MOST:
        inner = range(1, len(front) - 1)
        front.pop(min(inner, key=lambda at: front[at + 1].speedup / front[at - 1].speedup))
    return tuple(front)


def recommend_build(
    builds: Sequence[FrontBuild],
    fair: int,
    *,
    max_slowdown: float | None = None,
    max_growth: float | None = None,
) -> FrontBuild | None:
    """Return the best build of a front, or None if none is within the bounds.

    Bounds are fractions of the baseline's time and of its code, which has `fair` bytes. With only
    a bound on slowdown, choose the smallest build within it; with only a bound on growth, the
    fastest. Otherwise one per cent of speed is worth four per cent of code, and builds slower than
    the baseline are avoided if possible.
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
