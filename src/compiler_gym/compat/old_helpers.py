# SPDX-License-Identifier: MIT
"""Small helpers that scripts for CompilerGym 0.2.5 import: a timer, text, and means."""

import shlex
import statistics
import textwrap
from collections.abc import Callable, Iterable, Sequence
from time import monotonic

__all__ = [
    "Timer",
    "arithmetic_mean",
    "emph",
    "geometric_mean",
    "humanize_duration",
    "indent",
    "join_cmd",
    "plural",
    "stdev",
]

_UNITS = ((1e-6, 1e9, "ns"), (1e-3, 1e6, "us"), (1.0, 1e3, "ms"))


def humanize_duration(seconds: float) -> str:
    """Return a duration with a unit.

    >>> humanize_duration(0.0125), humanize_duration(2.5), humanize_duration(90)
    ('12.5ms', '2.500s', '90.0s')
    """
    size = abs(seconds)
    for limit, factor, unit in _UNITS:
        if size < limit:
            return f"{seconds * factor:.1f}{unit}"
    return f"{seconds:.{3 if size < 60 else 1}f}s"


class Timer:
    """A context manager that measures its ``with`` block.

    With a `label` it reports the duration through `print_fn` at the end.
    """

    def __init__(self, label: str | None = None, print_fn: Callable[[str], object] = print) -> None:
        self.label = label
        self.print_fn = print_fn
        self._start = monotonic()
        self._end: float | None = None

    def __enter__(self) -> "Timer":
        self._start, self._end = monotonic(), None
        return self

    def __exit__(self, *args: object) -> None:
        self._end = monotonic()
        if self.label:
            self.print_fn(f"{self.label} in {self}")

    @property
    def time(self) -> float:
        """The duration of the block, in seconds, or the time so far."""
        return (monotonic() if self._end is None else self._end) - self._start

    def reset(self) -> "Timer":
        """Start again."""
        return self.__enter__()

    def __str__(self) -> str:
        return humanize_duration(self.time)


def emph(value: object) -> str:
    """Return the text of `value`, bold and blue in a terminal."""
    return f"\033[1m\033[94m{value}\033[0m"


def plural(quantity: int, singular: str, plural: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "step", "steps"), plural(1200, "step", "steps")
    ('1 step', '1,200 steps')
    """
    return f"{quantity:,d} {singular if quantity == 1 else plural}"


def indent(text: str, n: int = 4) -> str:
    """Return `text` with each line indented by `n` blanks."""
    return textwrap.indent(text, " " * n)


def join_cmd(command: Iterable[object]) -> str:
    """Return a command line that a shell reads as the items of `command`."""
    return shlex.join(map(str, command))


def arithmetic_mean(values: Sequence[float]) -> float:
    """Return the mean, or 0 for no values."""
    return statistics.fmean(values) if len(values) else 0.0


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean, or 0 if there are no values or one is 0.

    Raises `ValueError` for a negative value.
    """
    return statistics.geometric_mean(values) if len(values) and all(values) else 0.0


def stdev(values: Sequence[float]) -> float:
    """Return the standard deviation of a population, or 0 for no values."""
    return statistics.pstdev(values) if len(values) else 0.0
