# SPDX-License-Identifier: MIT
"""Estimate the time of calls with an interval: warmed up, alternating, pinned to one core.

Single-threaded work is measured in processor time, so that other work on the machine hardly
counts; work of a thread pool is measured in wall time.
"""

import ctypes
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from math import ceil, inf
from typing import Any, Protocol

from compiler_gym.errors import InvalidParameterError
from compiler_gym.statistics import interval
from compiler_gym_loop_tool.jit._module import jit_module
from compiler_gym_loop_tool.jit.compiling import Call

__all__ = ["Estimate", "Turns", "estimate", "estimate_in_turns", "first_run", "pin_thread"]

_SAMPLE = 1e-4
"""Minimum seconds per sample: a thousand times the cost of reading the clock."""
_FEWEST, _MOST = 3, 1000
"""Limits of the number of samples per call, if time allows."""
_FEWEST_SHORT = 5
"""Number of samples before the first test of the interval, which takes 50 us, if samples are
shorter than `_LONG`. Each later test needs half as many more samples: testing after every sample
would stop at the first interval that is narrow by chance."""
_LONG = 5e-4
_FEWEST_WITH_OUTLIERS = 10
"""Smaller samples keep their outliers: dropping one of five would make the rest agree too well."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated time of one run of a call."""

    seconds: float
    """The geometric mean; with ten or more samples, without outliers."""
    low: float
    """The lower end of the 95 % confidence interval; 0 after a single sample. Because sampling
    stops once it is narrow, the interval contains the true value about nine times in ten."""
    high: float
    """The upper end; infinite after a single sample."""
    samples: tuple[float, ...]
    """Seconds per run in each sample; samples of several calls form pairs."""
    runs: int
    is_pinned: bool
    """True if the thread was pinned to one core."""

    @property
    def noise(self) -> float:
        """Half the width of the interval, as a share of the estimate."""
        return (self.high - self.low) / (2 * self.seconds) if self.seconds else inf


class Turns(Protocol):
    """Timer of alternating calls."""

    def __call__(self, rounds: int, repeats: Sequence[int]) -> list[list[float]]:
        """Run all calls in each of `rounds` rounds, each call `repeats` times in a row.

        Returns the seconds per run in each round, for each call.
        """
        ...


def estimate_in_turns(
    calls: Sequence[Call],
    *,
    seconds: float = 0.01,
    noise: float = 0.01,
    threaded: bool = False,
    first: Sequence[float | None] | None = None,
) -> list[Estimate]:
    """Return the time of each call, from alternating samples.

    Each call gets about `seconds`, but at least one run, and sampling stops once the interval of
    every call is within `noise` of its estimate. Set `threaded` if the calls use the pool.
    `first` has the results of `first_run`; None for a call that has not just run.
    """
    if not seconds > 0:
        raise InvalidParameterError(f"seconds must be above 0 (got {seconds})")
    with _hold_core(threaded) as is_pinned:
        first_seconds = [
            _make_turns([call], threaded)(1, [1])[0][0] if measured is None else measured
            for call, measured in zip(calls, first or [None] * len(calls), strict=True)
        ]
        return estimate(_make_turns(calls, threaded), first_seconds, seconds, noise, is_pinned)


def first_run(call: Call, *, threaded: bool = False) -> float:
    """Run a call for the first time and return the seconds, including cache misses."""
    with _hold_core(threaded):
        return _make_turns([call], threaded)(1, [1])[0][0]


def estimate(
    turns: Turns, first: Sequence[float], seconds: float, noise: float, is_pinned: bool = False
) -> list[Estimate]:
    """Return the time of each call, given the seconds of their first runs.

    This function only decides when to stop.
    """
    # The first run finds nothing in the caches, so it does not count, unless there is no time for
    # another.
    if max(first) >= seconds:
        return [_estimate([value], 1, is_pinned) for value in first]
    sample = min(_SAMPLE, seconds / _FEWEST_SHORT)
    repeats, cost = [1] * len(first), max(first)
    if min(first) < sample:
        repeats, cost = _repeats(turns, len(first), sample)
    rounds = max(1, min(_MOST, int(seconds / max(cost, 1e-9))))
    samples = [list[float]() for _ in first]
    batch = _FEWEST if cost >= _LONG else _FEWEST_SHORT
    while rounds > 0:
        batch = min(batch, rounds)
        rounds -= batch
        for times, new in zip(samples, turns(batch, repeats), strict=True):
            times.extend(new)
        if all(_noise(times) <= noise for times in samples):
            break
        batch = max(1, len(samples[0]) // 2)
    return [
        _estimate(times, count, is_pinned) for times, count in zip(samples, repeats, strict=True)
    ]


@contextmanager
def _hold_core(threaded: bool) -> Generator[bool]:
    """Pin this thread to its core unless its work is shared; yield True if it is pinned."""
    with nullcontext(False) if threaded else pin_thread() as is_pinned:
        yield is_pinned


def _make_turns(calls: Sequence[Call], threaded: bool) -> Turns:
    jit = jit_module()
    clock = jit.Clock.wall if threaded else jit.Clock.processor
    native = [call.bound for call in calls]

    def turns(rounds: int, repeats: Sequence[int]) -> list[list[float]]:
        times: list[list[float]] = jit.time_in_turns(native, rounds, list(repeats), clock)
        return times

    return turns


def _repeats(turns: Turns, calls: int, sample: float) -> tuple[list[int], float]:
    """Return the repeats of each call in `sample` seconds, and the longest sample in seconds."""
    repeats = [1] * calls
    cost = 0.0
    for _ in range(5):
        times = [max(seconds, 1e-9) for (seconds,) in turns(1, repeats)]
        cost = max(count * seconds for count, seconds in zip(repeats, times, strict=True))
        targets = [max(1, ceil(sample / seconds)) for seconds in times]
        if all(target <= 2 * count for target, count in zip(targets, repeats, strict=True)):
            break
        repeats = [max(count, target) for count, target in zip(repeats, targets, strict=True)]
    return repeats, cost


def _noise(samples: Sequence[float]) -> float:
    if len(samples) < _FEWEST:
        return inf
    result = interval(samples, fewest=_FEWEST_WITH_OUTLIERS)
    return (result.high - result.low) / (2 * result.mean)


def _estimate(samples: Sequence[float], repeats: int, is_pinned: bool) -> Estimate:
    result = interval(samples, fewest=_FEWEST_WITH_OUTLIERS)
    return Estimate(
        result.mean, result.low, result.high, tuple(samples), len(samples) * repeats, is_pinned
    )


@contextmanager
def pin_thread() -> Generator[bool]:
    """Pin this thread to its current core; yield False if the system does not allow it."""
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
    return _library().sched_getcpu()


@cache
def _library() -> Any:
    return ctypes.CDLL(None)
