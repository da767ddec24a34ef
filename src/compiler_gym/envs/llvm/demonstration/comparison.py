# SPDX-License-Identifier: MIT
"""One program's instruction counts, and the metrics made of them."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = ["METRICS", "PUBLISHED_METRIC", "Comparison", "geometric_mean", "summary"]

METRICS = ("(C0-C)/(C0-COz)", "COz/C", "(COz-C)/COz")
"""C0, COz and C: instructions at -O0, at -Oz and found."""
PUBLISHED_METRIC = "(C0-C)/(C0-COptOz)"
"""What publications give: COptOz is what opt's -Oz leaves of functions without size attributes."""


@dataclass(slots=True)
class Comparison:
    """What was counted on one program."""

    name: str
    benchmark: str
    initial: int
    """Instructions at reset."""
    o0: int
    o3: int
    oz: int
    baseline: int
    """Instructions after the best of opt's levels as an action: -Oz is not quite clang's there."""
    found: int
    """Instructions after the best sequence known: to begin with, that action."""
    actions: list[str]
    """The names of its actions."""
    command: str
    """The command that reproduces `found`."""
    counted: int | None = None
    """What LLVM's own tools count after `command`; None when it was not run."""
    problem: str = ""
    """Why `command` failed, if it did."""
    sequences: int = 0
    history: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])
    """Seconds and instructions of each improvement."""
    opt_oz: int | None = None
    """Instructions after opt's -Oz of functions without size attributes: what papers compare
    with."""

    @property
    def share_of_saving(self) -> float | None:
        """(C0-C)/(C0-COz): the saving as a share of what -Oz saves; None if that is nothing."""
        if self.o0 <= self.oz:
            return None
        return (self.o0 - self.found) / (self.o0 - self.oz)

    @property
    def published_share(self) -> float | None:
        """(C0-C)/(C0-COptOz); None where that saves nothing or is not known."""
        if self.opt_oz is None or self.o0 <= self.opt_oz:
            return None
        return (self.o0 - self.found) / (self.o0 - self.opt_oz)

    @property
    def ratio(self) -> float | None:
        """COz/C: above 1 where the found sequence beats -Oz."""
        return self.oz / self.found if self.found else None

    @property
    def saving(self) -> float | None:
        """(COz-C)/COz: the share of the code that -Oz left and the sequence removed."""
        return (self.oz - self.found) / self.oz if self.oz else None

    @property
    def is_reproduced(self) -> bool | None:
        """Whether LLVM's own tools count the same; None when they were not asked."""
        if self.problem:
            return False
        return None if self.counted is None else self.counted == self.found

    def to_json(self) -> dict[str, object]:
        """Return plain values for a JSON file."""
        return {
            "program": self.name,
            "benchmark": self.benchmark,
            "instructions": {
                "O0": self.o0, "O3": self.o3, "Oz": self.oz, "OptOz": self.opt_oz,
                "best level as an action": self.baseline, "found": self.found,
            },
            **dict(zip(METRICS, (self.share_of_saving, self.ratio, self.saving), strict=True)),
            PUBLISHED_METRIC: self.published_share,
            "actions": self.actions,
            "command": self.command,
            "counted_by_opt": self.counted,
            "is_reproduced": self.is_reproduced,
            "problem": self.problem or None,
            "sequences": self.sequences,
            "history": [[round(seconds, 3), count] for seconds, count in self.history],
        }  # fmt: skip


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """Return the geometric mean of the values there are; None without a positive one.

    >>> geometric_mean([1.0, 4.0, None])
    2.0
    """
    known = [value for value in values if value is not None]
    if not known or min(known) <= 0:
        return None
    return statistics.geometric_mean(known)


def summary(rows: Iterable[Comparison]) -> dict[str, float | None]:
    """Return the geometric mean of each metric.

    A saving may be 0, which has no geometric mean: the one of (COz-C)/COz is
    1 - geomean(C/COz), of the same programs.
    """
    rows = list(rows)
    ratio = geometric_mean(row.ratio for row in rows)
    shares = geometric_mean(row.share_of_saving for row in rows)
    means = dict(zip(METRICS, (shares, ratio, 1 - 1 / ratio if ratio else None), strict=True))
    return {**means, PUBLISHED_METRIC: geometric_mean(row.published_share for row in rows)}
