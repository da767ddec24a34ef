# SPDX-License-Identifier: MIT
"""What two tuned builds have different: binaries, sizes, decisions and sources."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from compiler_gym.errors import PlanError
from compiler_gym.tools.tune.measure import Measure
from compiler_gym.tools.tune.plan import PLAN_FILE, BinaryPlan, BuildPlan
from compiler_gym.tools.tune.reading import read_plan

__all__ = ["BinaryDifference", "PlanDifference", "compare_plans", "read_tuned"]

_TUNED = "tuned"


@dataclass(frozen=True, slots=True)
class BinaryDifference:
    """One linked file in two plans."""

    name: str
    sizes: Mapping[str, tuple[int | None, int | None]]
    """Bytes of the tuned build in both, by `Measure.key`; None where a plan has none."""
    only_first: tuple[str, ...]
    """Decisions of the first alone."""
    only_second: tuple[str, ...]
    has_other_passes: bool
    """True if both name passes, and not the same."""
    changed_sources: tuple[str, ...]
    """Those of both that are not what they were."""
    sources_gone: tuple[str, ...]
    sources_new: tuple[str, ...]
    measure: Measure = Measure.LOADED
    """By which the two are compared: code where one of the plans has nothing else."""

    @property
    def is_worse(self) -> bool:
        """True if the tuned build of the second is larger, as its search measured."""
        first, second = self.sizes.get(self.measure.key, (None, None))
        return first is not None and second is not None and second > first

    @property
    def is_same(self) -> bool:
        """True if nothing is different."""
        different = (
            self.only_first, self.only_second, self.changed_sources, self.sources_gone,
            self.sources_new,
        )  # fmt: skip
        sizes_differ = any(first != second for first, second in self.sizes.values())
        return not any(different) and not self.has_other_passes and not sizes_differ


@dataclass(frozen=True, slots=True)
class PlanDifference:
    """Two plans beside each other."""

    binaries: tuple[BinaryDifference, ...]
    """Those in both."""
    only_first: tuple[str, ...]
    """Linked files that the first alone tunes."""
    only_second: tuple[str, ...]
    settings: Mapping[str, tuple[str, str]]
    """Compiler, goal and version of this library, where they differ."""

    @property
    def is_worse(self) -> bool:
        """Whether the second has a larger file in any of both, or lacks a file of the first."""
        return bool(self.only_first) or any(binary.is_worse for binary in self.binaries)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {**msgspec.to_builtins(self), "is_worse": self.is_worse}


def read_tuned(path: Path) -> BuildPlan:
    """Return the plan that is the file `path`, or lies in the folder; raise `PlanError`."""
    if path.is_dir():
        plan = path / PLAN_FILE
        if not plan.is_file():
            raise PlanError(f"no {PLAN_FILE} in {path}: expected what `compiler-gym tune` wrote")
        return read_plan(plan)
    return read_plan(path)


def compare_plans(first: BuildPlan, second: BuildPlan) -> PlanDifference:
    """Return what `second` has different."""
    ours = {binary.name: binary for binary in first.binaries}
    theirs = {binary.name: binary for binary in second.binaries}
    settings = {
        name: (getattr(first, name), getattr(second, name))
        for name in ("compiler", "goal", "made_by")
        if getattr(first, name) != getattr(second, name)
    }
    return PlanDifference(
        tuple(
            _compare(ours[name], theirs[name], Measure(second.measure))
            for name in ours
            if name in theirs
        ),
        tuple(name for name in ours if name not in theirs),
        tuple(name for name in theirs if name not in ours),
        settings,
    )


def _compare(first: BinaryPlan, second: BinaryPlan, measure: Measure) -> BinaryDifference:
    ours, theirs = first.sizes.get(_TUNED, {}), second.sizes.get(_TUNED, {})
    keys = [one.key for one in Measure if one.key in ours or one.key in theirs]
    is_in_both = measure.key in ours and measure.key in theirs
    before = {source.path: source.sha256 for source in first.sources}
    after = {source.path: source.sha256 for source in second.sources}
    return BinaryDifference(
        first.name,
        {name: (ours.get(name), theirs.get(name)) for name in keys},
        only_first=tuple(_missing(_all(first), _all(second))),
        only_second=tuple(_missing(_all(second), _all(first))),
        has_other_passes=bool(first.passes and second.passes) and first.passes != second.passes,
        changed_sources=tuple(p for p in before if p in after and before[p] != after[p]),
        sources_gone=tuple(_missing(list(before), list(after))),
        sources_new=tuple(_missing(list(after), list(before))),
        measure=measure if is_in_both else Measure.TEXT,
    )


def _all(plan: BinaryPlan) -> list[str]:
    """Return the decisions, and how the file is made."""
    return [f"method {plan.method}", *plan.decisions()]


def _missing(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[str]:
    yield from (name for name in ours if name not in theirs)
