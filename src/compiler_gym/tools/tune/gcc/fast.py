# SPDX-License-Identifier: MIT
"""Tune for speed with GCC: instrumentation profiles and a table of flags."""

import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import (
    BinaryPlan,
    Choice,
    RunCommand,
    list_sources,
    require_among,
    require_nothing_in,
)
from compiler_gym.tools.tune.gcc.choices import CHOICES, FAST, FRONT, FRONT_BASE
from compiler_gym.tools.tune.gcc.flags import find_option
from compiler_gym.tools.tune.gcc.making import FASTEST, GccMaker
from compiler_gym.tools.tune.gcc.profiling import counting_flags, pack
from compiler_gym.tools.tune.gcc.size import LINKER

__all__ = ["BY_HAND", "FAIR_FAST", "FAST_RIVALS", "GccFastDecisions", "require_fast"]

FAIR_FAST = "gcc -O3 -flto, --gc-sections"
BY_HAND = "gcc -O3 -flto -fprofile-use, --gc-sections"
"""The usual profile-guided build, with a profile of the same training run."""
FAST_RIVALS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "gcc -O3": (("-O3",), ()),
    "gcc -O3 -flto": (("-O3", "-flto"), ()),
    FAIR_FAST: (FAST, LINKER),
}
"""Compiler and linker flags of each rival, the fair rival last."""
_TRAINED = "training"
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class GccFastDecisions:
    """The decisions that may make one binary faster."""

    maker: GccMaker
    decided: Collection[str] = ()
    """Options that the project sets itself; they are not changed."""
    fair: str = FAIR_FAST
    by_hand: str = BY_HAND
    front_base: str = FRONT_BASE
    lays_out: bool = False
    layouts: Collection[str] = ()

    @property
    def choices(self) -> Sequence[Choice]:
        """Flags that may make the program faster."""
        return [choice for choice in CHOICES if self._is_free(choice)]

    @property
    def front(self) -> Mapping[str, Choice]:
        """Candidate builds for the front."""
        return {name: choice for name, choice in FRONT.items() if self._is_free(choice)}

    @property
    def profiles(self) -> Collection[str]:
        """The path of the profile."""
        return [str(self._profile)]

    def find_option(self, word: str) -> str:
        """Return the option that `word` sets."""
        return find_option(word)

    def plain(self) -> BinaryPlan:
        """Return the plan for the fair rival."""
        binary = self.maker.binary
        sources = list_sources(binary, binary.units)
        return BinaryPlan(binary.name, FASTEST, linker=LINKER, sources=sources)

    def build(self, plan: BinaryPlan, *, jobs: int) -> Path:
        """Return the stripped binary of `plan`."""
        key = self.maker.key([*plan.flags, *plan.linker, plan.profile])
        return self.maker.make_plan(f"fast-{key}", plan, jobs=jobs)

    def train_profile(self, by: RunCommand, notes: list[str]) -> Path | None:
        """Return a profile of the command `by`, or None with a note if profiling fails."""
        raw = self._profile.with_name("raw")
        shutil.rmtree(raw.parent, ignore_errors=True)
        raw.mkdir(parents=True)
        try:
            path = self.maker.make(_TRAINED, [*FAST, *counting_flags(raw)], LINKER)
            outcome = by.run(path)
            has_failed = by.has_failed(outcome)
            count = 0 if has_failed else pack(raw, self._profile)
            if not count:
                why = f"exited with status {outcome.status}" if has_failed else (
                    "wrote no profile; it must run the program that was built, and that program "
                    "must end with exit()"
                )  # fmt: skip
                raise ProjectError(f"{by.text} {why}")
        except ProjectError as error:
            notes.append(f"no {_TRAINED} profile: {str(error)[-_SHOWN:]}")
            return None
        return self._profile

    def read_profile(self, file: Path, notes: list[str]) -> Path:
        """Raise `ProjectError`: GCC's profiles match only the build that wrote them."""
        raise ProjectError(
            f"GCC cannot use the profile {file} from production, because it matches only the build "
            "that wrote it; use --train with a command instead of --profile, or omit --compiler"
        )

    def with_callers(self, plan: BinaryPlan, by: RunCommand, notes: list[str]) -> None:
        """Return None: GCC has no context-sensitive profiles."""

    def lay_out(self, plan: BinaryPlan, by: RunCommand, notes: list[str]) -> None:
        """Return None: GNU ld's layout of the linked file is kept."""

    def require_possible(self, plan: BinaryPlan) -> None:
        """Raise `PlanError` for the first decision of `plan` that this tuner never makes."""
        require_fast(plan)

    @property
    def _profile(self) -> Path:
        return self.maker.folder / _TRAINED / "program.gcda.tar"

    def _is_free(self, choice: Choice) -> bool:
        return not any(find_option(flag) in self.decided for flag in choice.flags)


def require_fast(plan: BinaryPlan) -> None:
    """Raise `PlanError` for the first decision of `plan` that no tuning for speed makes."""
    require_nothing_in(plan, "scope", "passes", "options", "after", "after_profile")
    flags = {flag for choice in (*CHOICES, *FRONT.values()) for flag in choice.flags}
    require_among(plan, "flag", plan.flags, flags)
    require_among(plan, "linker option", plan.linker, LINKER)
