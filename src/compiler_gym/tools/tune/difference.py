# SPDX-License-Identifier: MIT
"""Compare two tuned builds: binaries, sizes, decisions and sources."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from compiler_gym.errors import PlanError
from compiler_gym.tools.tune.goal import Measure
from compiler_gym.tools.tune.plan import PLAN_FILE, BinaryPlan, BuildPlan
from compiler_gym.tools.tune.reading import read_plan

_TUNED = "tuned"


@dataclass(frozen=True, slots=True)
class BinaryDifference:
    """One linked file in two plans."""

    name: str
    sizes: Mapping[str, tuple[int | None, int | None]]
    """Bytes of the tuned build in both plans, by `Measure.key`; None if a plan has none."""
    only_first: tuple[str, ...]
    """Decisions only in the first plan."""
    only_second: tuple[str, ...]
    has_other_passes: bool
    """True if both plans have passes, but different ones."""
    changed_sources: tuple[str, ...]
    """Sources in both plans with different contents."""
    sources_gone: tuple[str, ...]
    sources_new: tuple[str, ...]
    measure: Measure = Measure.LOADED
    """The size to compare; code size if a plan lacks the size that was minimised."""

    @property
    def is_worse(self) -> bool:
        """True if the tuned build of the second plan is larger, by `measure`."""
        first, second = self.sizes.get(self.measure.key, (None, None))
        return first is not None and second is not None and second > first

    @property
    def is_same(self) -> bool:
        """True if nothing differs."""
        different = (
            self.only_first,
            self.only_second,
            self.changed_sources,
            self.sources_gone,
            self.sources_new,
        )
        sizes_differ = any(first != second for first, second in self.sizes.values())
        return not any(different) and not self.has_other_passes and not sizes_differ


@dataclass(frozen=True, slots=True)
class PlanDifference:
    """The differences between two plans."""

    binaries: tuple[BinaryDifference, ...]
    """The linked files in both plans."""
    only_first: tuple[str, ...]
    """Linked files only in the first plan."""
    only_second: tuple[str, ...]
    settings: Mapping[str, tuple[str, str]]
    """Compiler, goal and version of this library, if they differ."""

    @property
    def is_worse(self) -> bool:
        """True if a file is larger in the second plan, or missing there."""
        return bool(self.only_first) or any(binary.is_worse for binary in self.binaries)

    def to_json(self) -> dict[str, Any]:
        """Return the differences as JSON values."""
        return {**msgspec.to_builtins(self), "is_worse": self.is_worse}


def read_tuned(path: Path) -> BuildPlan:
    """Return the plan in the file or folder `path`; raise `PlanError` if there is none."""
    if path.is_dir():
        plan = path / PLAN_FILE
        if not plan.is_file():
            raise PlanError(f"no {PLAN_FILE} in {path}: give a folder of `compiler-gym tune`")
        return read_plan(plan)
    return read_plan(path)


def compare_plans(first: BuildPlan, second: BuildPlan) -> PlanDifference:
    """Return the differences of `second` from `first`."""
    old = {binary.name: binary for binary in first.binaries}
    new = {binary.name: binary for binary in second.binaries}
    settings = {
        name: (getattr(first, name), getattr(second, name))
        for name in ("compiler", "goal", "made_by")
        if getattr(first, name) != getattr(second, name)
    }
    return PlanDifference(
        tuple(
            _compare(old[name], new[name], Measure(second.measure)) for name in old if name in new
        ),
        tuple(name for name in old if name not in new),
        tuple(name for name in new if name not in old),
        settings,
    )


def _compare(first: BinaryPlan, second: BinaryPlan, measure: Measure) -> BinaryDifference:
    old, new = first.sizes.get(_TUNED, {}), second.sizes.get(_TUNED, {})
    keys = [size.key for size in Measure if size.key in old or size.key in new]
    is_in_both = measure.key in old and measure.key in new
    before = {source.path: source.sha256 for source in first.sources}
    after = {source.path: source.sha256 for source in second.sources}
    return BinaryDifference(
        first.name,
        {name: (old.get(name), new.get(name)) for name in keys},
        only_first=tuple(_missing(_all(first), _all(second))),
        only_second=tuple(_missing(_all(second), _all(first))),
        has_other_passes=bool(first.passes and second.passes) and first.passes != second.passes,
        changed_sources=tuple(p for p in before if p in after and before[p] != after[p]),
        sources_gone=tuple(_missing(list(before), list(after))),
        sources_new=tuple(_missing(list(after), list(before))),
        measure=measure if is_in_both else Measure.TEXT,
    )


def _all(plan: BinaryPlan) -> list[str]:
    """Return the method and the decisions of `plan`."""
    return [f"method {plan.method}", *plan.decisions()]


def _missing(names: Sequence[str], present: Sequence[str]) -> Iterator[str]:
    yield from (name for name in names if name not in present)
