# SPDX-License-Identifier: MIT
"""Tune for speed with LLVM: clang's profiles, a table of flags, and BOLT's layout."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compiler_gym.tools.tune import BinaryPlan, Choice, RunCommand, list_sources
from compiler_gym.tools.tune.llvm.bolt import layouts_in, with_layout
from compiler_gym.tools.tune.llvm.choices import CHOICES, FRONT, FRONT_BASE, find_option
from compiler_gym.tools.tune.llvm.link_time import build_plan
from compiler_gym.tools.tune.llvm.linking import FAST, FOLDING, SAMPLED, Linker
from compiler_gym.tools.tune.llvm.possible import require_possible
from compiler_gym.tools.tune.llvm.profiling import Profiler, profiles_in

__all__ = ["BY_HAND", "FAIR_FAST", "LlvmFastDecisions"]

FAIR_FAST = "clang -O3 -flto, --icf=safe"
BY_HAND = "clang -O3 -flto -fprofile-use, --icf=safe"
"""The usual profile-guided build, with a profile of the same training run."""


@dataclass(frozen=True, slots=True)
class LlvmFastDecisions:
    """The decisions that may make one binary faster."""

    linker: Linker
    fair: str = FAIR_FAST
    by_hand: str = BY_HAND
    choices: Sequence[Choice] = CHOICES
    front_base: str = FRONT_BASE
    lays_out: bool = True

    @property
    def front(self) -> Mapping[str, Choice]:
        """Candidate builds for the front."""
        return FRONT

    @property
    def profiles(self) -> Collection[str]:
        """The paths of all profiles."""
        return profiles_in(self.linker.folder)

    @property
    def layouts(self) -> Collection[str]:
        """The paths of BOLT's profiles."""
        return layouts_in(self.linker.folder)

    def find_option(self, word: str) -> str:
        """Return the option that `word` sets."""
        return find_option(word)

    def plain(self) -> BinaryPlan:
        """Return the plan for the fair rival."""
        binary = self.linker.binary
        sources = list_sources(binary, binary.units)
        return BinaryPlan(binary.name, FAST, linker=FOLDING, sources=sources)

    def build(self, plan: BinaryPlan, *, jobs: int) -> Path:
        """Return the stripped binary of `plan`."""
        return build_plan(replace(self.linker, jobs=jobs), plan)

    def train_profile(self, by: RunCommand, notes: list[str]) -> Path | None:
        """Return a profile of the command `by`, or None with a note if profiling fails."""
        return Profiler(self.linker, notes).train_profile(by)

    def read_profile(self, file: Path, notes: list[str]) -> Path:
        """Return the profile `file` from production, converted for clang if necessary."""
        return Profiler(self.linker, notes).read_profile(file, self.linker.binary.path)

    def with_callers(self, plan: BinaryPlan, by: RunCommand, notes: list[str]) -> BinaryPlan | None:
        """Return `plan` with a context-sensitive profile, or None for a sample profile."""
        if plan.profile.endswith(SAMPLED):
            return None
        path = Profiler(self.linker, notes).train_profile(by, Path(plan.profile))
        return None if path is None else replace(plan, profile=str(path))

    def lay_out(self, plan: BinaryPlan, by: RunCommand, notes: list[str]) -> BinaryPlan | None:
        """Return `plan` with a BOLT layout, or None with a note if that fails."""
        return with_layout(self.linker, plan, by, notes)

    def require_possible(self, plan: BinaryPlan) -> None:
        """Raise `PlanError` for the first decision of `plan` that this tuner never makes."""
        require_possible(plan)
