# SPDX-License-Identifier: MIT
"""What the benchmarks share: a figure with its promise, and how to take a median."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

__all__ = ["Figure", "NotSetUpError", "median_seconds", "programs_of_size"]


class NotSetUpError(Exception):
    """What a section compares with is not on this machine."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number: its name, its unit, the bound it was promised to keep, and its interval."""

    name: str
    value: float
    unit: str
    bound: float | None = None
    direction: Literal["at most", "at least"] = "at most"
    between: tuple[float, float] | None = None
    """The least and the greatest of what the rounds found."""

    @property
    def holds(self) -> bool | None:
        """Whether the promise is kept; None without one."""
        if self.bound is None:
            return None
        return self.value <= self.bound if self.direction == "at most" else self.value >= self.bound

    @property
    def measured(self) -> str:
        value = _text(self.value, self.unit)
        if self.between is None:
            return value
        low, high = (_text(bound, "") for bound in self.between)
        return f"{value} [{low}, {high}]"

    @property
    def promise(self) -> str:
        sign = "≤" if self.direction == "at most" else "≥"
        return "" if self.bound is None else f"{sign} {_text(self.bound, self.unit)}"


def median_seconds(call: Callable[[], Any], *, repeats: int) -> float:
    """Return the median wall-clock time of `call`."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return median(times)


def programs_of_size(low: int, high: int) -> list[str]:
    """Return the bundled programs with `low` to `high` instructions, by name."""
    import compiler_gym

    with compiler_gym.make("llvm-v0", observation_space="IrInstructionCount") as env:
        found = []
        for uri in env.datasets["benchmark://cbench-v1"].benchmark_uris():
            count, _ = env.reset(benchmark=uri)
            if low <= count <= high:
                found.append(uri)
    return found


def _text(value: float, unit: str) -> str:
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:.{digits}f} {unit}".strip()
