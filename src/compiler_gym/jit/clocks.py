# SPDX-License-Identifier: MIT
"""How long calls take, with an interval: warmed up, in turns, held on one core.

One thread's work is measured in processor time, so that what else the machine does counts
little; what a pool of threads does, in wall time.
"""

import ctypes
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil, inf
from typing import Any

from compiler_gym.errors import InvalidParameterError
from compiler_gym.jit._module import jit_module
from compiler_gym.jit.compiling import Call
from compiler_gym.timing import Interval, interval

__all__ = ["Estimate", "estimate_in_turns", "pinned"]

_SAMPLE = 1e-4
"""The seconds of one sample, at least: a thousand times what reading the clock takes."""
_FEWEST, _MOST = 5, 1000
"""How many samples are taken of each call where there is time."""
_BATCH = 5


@dataclass(frozen=True, slots=True)
class Estimate:
    """How long one run of a call takes."""

    seconds: float
    """The geometric mean, outliers left out."""
    low: float
    """The lower end of the 95 % confidence interval; 0 after a single sample."""
    high: float
    """Its upper end; infinite after a single sample."""
    samples: tuple[float, ...]
    """The seconds of one run in each sample; those of several calls belong in pairs."""
    runs: int
    is_pinned: bool
    """Whether the thread was held on one core."""

    @property
    def noise(self) -> float:
        """Half the interval, as a share of the estimate."""
        return (self.high - self.low) / (2 * self.seconds) if self.seconds else inf


def estimate_in_turns(
    calls: Sequence[Call], *, seconds: float = 0.01, noise: float = 0.01, threaded: bool = False
) -> list[Estimate]:
    """Return how long each call takes, from samples taken in turns.

    Each call gets about `seconds`, but one run at least, and no more samples once the interval
    of every call is within `noise` of its estimate. `threaded` says that calls use the pool.
    """
    if not seconds > 0:
        raise InvalidParameterError(f"{seconds} seconds for a timing: expected more than 0")
    if threaded:
        return _estimates(calls, seconds, noise, "wall", False)
    with pinned() as is_pinned:
        return _estimates(calls, seconds, noise, "processor", is_pinned)


def _estimates(
    calls: Sequence[Call], seconds: float, noise: float, clock: str, is_pinned: bool
) -> list[Estimate]:
    native = [call.bound for call in calls]
    jit = jit_module()
    measured = jit.Clock.wall if clock == "wall" else jit.Clock.processor
    # The first run finds nothing in the caches and is not counted, unless it is all there is time
    # for.
    ones = [1] * len(calls)
    samples: list[list[float]] = jit.time_in_turns(native, 1, ones, measured)
    left = seconds - max(found[0] for found in samples)
    if left <= 0:
        return [_estimate(found, 1, is_pinned) for found in samples]
    repeats = _repeats(native, min(_SAMPLE, seconds / _FEWEST), measured)
    single: list[float] = [found[0] for found in jit.time_in_turns(native, 1, repeats, measured)]
    cost = max(max(count * one, 1e-9) for count, one in zip(repeats, single, strict=True))
    rounds = max(1, min(_MOST, int(left / cost)))
    samples = [list[float]() for _ in calls]
    while rounds > 0:
        batch = min(_BATCH, rounds)
        rounds -= batch
        for found, more in zip(
            samples, jit.time_in_turns(native, batch, repeats, measured), strict=True
        ):
            found.extend(more)
        if all(_noise(found) <= noise for found in samples):
            break
    return [
        _estimate(found, count, is_pinned) for found, count in zip(samples, repeats, strict=True)
    ]


def _repeats(native: Sequence[Any], sample: float, clock: Any) -> list[int]:
    """Return how often each call has to run in a row to take `sample` seconds."""
    repeats = [1] * len(native)
    for _ in range(4):
        found = jit_module().time_in_turns(native, 1, repeats, clock)
        wanted = [max(1, ceil(sample / max(seconds, 1e-9))) for (seconds,) in found]
        if all(more <= 2 * count for more, count in zip(wanted, repeats, strict=True)):
            break
        repeats = [max(count, more) for count, more in zip(repeats, wanted, strict=True)]
    return repeats


def _noise(samples: Sequence[float]) -> float:
    if len(samples) < _FEWEST:
        return inf
    found = interval(samples)
    return (found.high - found.low) / (2 * found.center)


def _estimate(samples: Sequence[float], repeats: int, is_pinned: bool) -> Estimate:
    found: Interval = interval(samples)
    return Estimate(
        found.center, found.low, found.high, tuple(samples), len(samples) * repeats, is_pinned
    )


@contextmanager
def pinned() -> Generator[bool]:
    """Hold this thread on the core on which it runs; yield whether the system allows that."""
    try:
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {_core()})
    except OSError:
        yield False
        return
    try:
        yield True
    finally:
        os.sched_setaffinity(0, before)


def _core() -> int:
    return ctypes.CDLL(None).sched_getcpu()
