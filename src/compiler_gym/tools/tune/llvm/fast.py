# SPDX-License-Identifier: MIT
"""LLVM's part of a tuning by runs: profiles of clang's, a table of choices, a layout by BOLT."""

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

FAIR_FAST = "clang -O3 -flto, --gc-sections --icf=safe"
BY_HAND = "clang -O3 -flto -fprofile-use, --gc-sections --icf=safe"
"""What people build who use a profile by hand, of the same training run."""


@dataclass(frozen=True, slots=True)
class LlvmFastDecisions:
    """What may make one binary faster."""

    linker: Linker
    fair: str = FAIR_FAST
    by_hand: str = BY_HAND
    choices: Sequence[Choice] = CHOICES
    front_base: str = FRONT_BASE
    lays_out: bool = True

    @property
    def front(self) -> Mapping[str, Choice]:
        """Builds of which a front is chosen."""
        return FRONT

    @property
    def profiles(self) -> Collection[str]:
        """Where profiles are put."""
        return profiles_in(self.linker.folder)

    @property
    def layouts(self) -> Collection[str]:
        """Where BOLT's counts are put."""
        return layouts_in(self.linker.folder)

    def find_option(self, word: str) -> str:
        """Return what `word` sets."""
        return find_option(word)

    def plain(self) -> BinaryPlan:
        """Return the plan that makes the fair rival."""
        binary = self.linker.binary
        sources = list_sources(binary, binary.units)
        return BinaryPlan(binary.name, FAST, linker=FOLDING, sources=sources)

    def build(self, plan: BinaryPlan, *, jobs: int) -> Path:
        """Return the stripped binary of `plan`."""
        return build_plan(replace(self.linker, jobs=jobs), plan)

    def train_profile(self, by: RunCommand, notes: list[str]) -> Path | None:
        """Return a profile of the command `by`; None, with a note, where there is none."""
        return Profiler(self.linker, notes).train_profile(by)

    def read_profile(self, file: Path, notes: list[str]) -> Path:
        """Return the profile `file` from production as clang reads it."""
        return Profiler(self.linker, notes).read_profile(file, self.linker.binary.path)

    def with_callers(self, plan: BinaryPlan, by: RunCommand, notes: list[str]) -> BinaryPlan | None:
        """Return `plan` with a profile of calls on top of its own; None for a sampled one."""
        if plan.profile.endswith(SAMPLED):
            return None
        path = Profiler(self.linker, notes).train_profile(by, Path(plan.profile))
        return None if path is None else replace(plan, profile=str(path))

    def lay_out(self, plan: BinaryPlan, by: RunCommand, notes: list[str]) -> BinaryPlan | None:
        """Return `plan` laid out by BOLT; None, with a note, where that fails."""
        return with_layout(self.linker, plan, by, notes)

    def require_possible(self, plan: BinaryPlan) -> None:
        """Raise `PlanError` that names what of `plan` is never decided."""
        require_possible(plan)
