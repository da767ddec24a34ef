# SPDX-License-Identifier: MIT
"""One program's instruction counts, with the metrics of the leaderboards."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from compiler_gym.tools.learn.leaderboard import Cost, geometric_mean

__all__ = ["METRICS", "PUBLISHED_METRIC", "Comparison", "mean_of", "summary"]

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
    def cost(self) -> Cost:
        """The counts as a leaderboard takes them."""
        return Cost(self.name, self.o0, self.oz, self.found, self.opt_oz)

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
        cost = self.cost
        return {
            "program": self.name,
            "benchmark": self.benchmark,
            "instructions": {
                "O0": self.o0, "O3": self.o3, "Oz": self.oz, "OptOz": self.opt_oz,
                "best level as an action": self.baseline, "found": self.found,
            },
            **dict(zip(METRICS, (cost.share, cost.ratio, self.saving), strict=True)),
            PUBLISHED_METRIC: cost.published_share,
            "actions": self.actions,
            "command": self.command,
            "counted_by_opt": self.counted,
            "is_reproduced": self.is_reproduced,
            "problem": self.problem or None,
            "sequences": self.sequences,
            "history": [[round(seconds, 3), count] for seconds, count in self.history],
        }  # fmt: skip


def mean_of(values: Iterable[float | None]) -> float | None:
    """Return the geometric mean of the values there are; None without a positive one."""
    return geometric_mean([value for value in values if value is not None])


def summary(rows: Iterable[Comparison]) -> dict[str, float | None]:
    """Return the geometric mean of each metric.

    A saving may be 0, which has no geometric mean: the one of (COz-C)/COz is
    1 - geomean(C/COz), of the same programs.
    """
    costs = [row.cost for row in rows]
    ratio = mean_of(cost.ratio for cost in costs)
    shares = mean_of(cost.share for cost in costs)
    means = dict(zip(METRICS, (shares, ratio, 1 - 1 / ratio if ratio else None), strict=True))
    return {**means, PUBLISHED_METRIC: mean_of(cost.published_share for cost in costs)}
