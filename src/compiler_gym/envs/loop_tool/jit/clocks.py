# SPDX-License-Identifier: MIT
"""How long calls take, with an interval: warmed up, in turns, held on one core.

One thread's work is measured in processor time, so that what else the machine does counts
little; what a pool of threads does, in wall time.
"""

import ctypes
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from math import ceil, inf
from typing import Any, Protocol

from compiler_gym.envs.loop_tool.jit._module import jit_module
from compiler_gym.envs.loop_tool.jit.compiling import Call
from compiler_gym.errors import InvalidParameterError
from compiler_gym.validation.timing import interval

__all__ = ["Estimate", "Turns", "estimate", "estimate_in_turns", "first_run", "pin_thread"]

_SAMPLE = 1e-4
"""The seconds of one sample, at least: a thousand times what reading the clock takes."""
_FEWEST, _MOST = 3, 1000
"""Number of samples that are taken of each call where there is time."""
_FEWEST_SHORT = 5
"""How many are taken before the first look at the interval, which takes 50 us, where samples are
shorter than `_LONG`. Each later look is after half as many more: who looks after every sample
stops at the first interval that is narrow by chance."""
_LONG = 5e-4
_FEWEST_WITH_OUTLIERS = 10
"""Among fewer samples none is left out: what is left of five would agree too well."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """How long one run of a call takes."""

    seconds: float
    """The geometric mean; of ten samples and more, outliers left out."""
    low: float
    """The lower end of the 95 % confidence interval; 0 after a single sample. Since sampling ends
    when it is narrow, it holds what is true about nine times in ten."""
    high: float
    """Its upper end; infinite after a single sample."""
    samples: tuple[float, ...]
    """The seconds of one run in each sample; those of several calls belong in pairs."""
    runs: int
    is_pinned: bool
    """True if the thread was held on one core."""

    @property
    def noise(self) -> float:
        """Half the interval, as a share of the estimate."""
        return (self.high - self.low) / (2 * self.seconds) if self.seconds else inf


class Turns(Protocol):
    """Calls that take turns, and a clock."""

    def __call__(self, rounds: int, repeats: Sequence[int]) -> list[list[float]]:
        """Run every call `rounds` times `repeats` times in a row.

        Returns for each call the seconds of one run in each round.
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
    """Return how long each call takes, from samples taken in turns.

    Each call gets about `seconds`, but one run at least, and no more samples once the interval
    of every call is within `noise` of its estimate. `threaded` says that calls use the pool.
    `first` is what `first_run` said of each; it is asked where that was not just now (None).
    """
    if not seconds > 0:
        raise InvalidParameterError(f"{seconds} seconds for a timing: expected more than 0")
    with _hold_core(threaded) as is_pinned:
        known = [
            _turns([call], threaded)(1, [1])[0][0] if one is None else one
            for call, one in zip(calls, first or [None] * len(calls), strict=True)
        ]
        return estimate(_turns(calls, threaded), known, seconds, noise, is_pinned)


def first_run(call: Call, *, threaded: bool = False) -> float:
    """Run a call for the first time and return the seconds: what it finds in no cache counts."""
    with _hold_core(threaded):
        return _turns([call], threaded)(1, [1])[0][0]


def estimate(
    turns: Turns, first: Sequence[float], seconds: float, noise: float, is_pinned: bool = False
) -> list[Estimate]:
    """Return how long each of some calls takes, whose first runs took `first` seconds.

    When to stop is all that is decided here.
    """
    # The first run finds nothing in the caches and is not counted, unless it is all there is time
    # for.
    if max(first) >= seconds:
        return [_estimate([one], 1, is_pinned) for one in first]
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
        for found, more in zip(samples, turns(batch, repeats), strict=True):
            found.extend(more)
        if all(_noise(found) <= noise for found in samples):
            break
        batch = max(1, len(samples[0]) // 2)
    return [
        _estimate(found, count, is_pinned) for found, count in zip(samples, repeats, strict=True)
    ]


@contextmanager
def _hold_core(threaded: bool) -> Generator[bool]:
    """Hold this thread on its core, unless it shares its work; yield whether it is held."""
    with nullcontext(False) if threaded else pin_thread() as is_pinned:
        yield is_pinned


def _turns(calls: Sequence[Call], threaded: bool) -> Turns:
    jit = jit_module()
    clock = jit.Clock.wall if threaded else jit.Clock.processor
    native = [call.bound for call in calls]

    def turns(rounds: int, repeats: Sequence[int]) -> list[list[float]]:
        found: list[list[float]] = jit.time_in_turns(native, rounds, list(repeats), clock)
        return found

    return turns


def _repeats(turns: Turns, calls: int, sample: float) -> tuple[list[int], float]:
    """Return how often each call has to run to take `sample` seconds, and the longest sample."""
    repeats = [1] * calls
    cost = 0.0
    for _ in range(5):
        found = [max(one, 1e-9) for (one,) in turns(1, repeats)]
        cost = max(count * one for count, one in zip(repeats, found, strict=True))
        wanted = [max(1, ceil(sample / one)) for one in found]
        if all(more <= 2 * count for more, count in zip(wanted, repeats, strict=True)):
            break
        repeats = [max(count, more) for count, more in zip(repeats, wanted, strict=True)]
    return repeats, cost


def _noise(samples: Sequence[float]) -> float:
    if len(samples) < _FEWEST:
        return inf
    found = interval(samples, fewest=_FEWEST_WITH_OUTLIERS)
    return (found.high - found.low) / (2 * found.center)


def _estimate(samples: Sequence[float], repeats: int, is_pinned: bool) -> Estimate:
    found = interval(samples, fewest=_FEWEST_WITH_OUTLIERS)
    return Estimate(
        found.center, found.low, found.high, tuple(samples), len(samples) * repeats, is_pinned
    )


@contextmanager
def pin_thread() -> Generator[bool]:
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
    return _library().sched_getcpu()


@cache
def _library() -> Any:
    return ctypes.CDLL(None)
