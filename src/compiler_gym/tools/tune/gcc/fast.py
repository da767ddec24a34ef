# SPDX-License-Identifier: MIT
"""GCC's part of a tuning by runs: profiles of counters, and a table of choices."""

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
"""What people build who use a profile by hand, of the same training run."""
FAST_RIVALS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "gcc -O3": (("-O3",), ()),
    "gcc -O3 -flto": (("-O3", "-flto"), ()),
    FAIR_FAST: (FAST, LINKER),
}
"""Flags of the compiler and of the linker, the fair rival last."""
_TRAINED = "training"
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class GccFastDecisions:
    """What may make one binary faster."""

    maker: GccMaker
    decided: Collection[str] = ()
    """Options that the project sets itself, which are left alone."""
    fair: str = FAIR_FAST
    by_hand: str = BY_HAND
    front_base: str = FRONT_BASE
    lays_out: bool = False
    layouts: Collection[str] = ()

    @property
    def choices(self) -> Sequence[Choice]:
        """What may make the program faster."""
        return [choice for choice in CHOICES if self._is_free(choice)]

    @property
    def front(self) -> Mapping[str, Choice]:
        """Builds of which a front is chosen."""
        return {name: choice for name, choice in FRONT.items() if self._is_free(choice)}

    @property
    def profiles(self) -> Collection[str]:
        """Where the profile is put."""
        return [str(self._profile)]

    def find_option(self, word: str) -> str:
        """Return what `word` sets."""
        return find_option(word)

    def plain(self) -> BinaryPlan:
        """Return the plan that makes the fair rival."""
        binary = self.maker.binary
        sources = list_sources(binary, binary.units)
        return BinaryPlan(binary.name, FASTEST, linker=LINKER, sources=sources)

    def build(self, plan: BinaryPlan, *, jobs: int) -> Path:
        """Return the stripped binary of `plan`."""
        key = self.maker.key([*plan.flags, *plan.linker, plan.profile])
        return self.maker.make_plan(f"fast-{key}", plan, jobs=jobs)

    def train_profile(self, by: RunCommand, notes: list[str]) -> Path | None:
        """Return a profile of the command `by`; None, with a note, where there is none."""
        raw = self._profile.with_name("raw")
        shutil.rmtree(raw.parent, ignore_errors=True)
        raw.mkdir(parents=True)
        try:
            path = self.maker.make(_TRAINED, [*FAST, *counting_flags(raw)], LINKER)
            ended = by.run(path)
            has_failed = by.has_failed(ended)
            count = 0 if has_failed else pack(raw, self._profile)
            if not count:
                said = f"ended with status {ended.status}" if has_failed else (
                    "left no counts: it runs another file, or ends without exit(), so that nothing "
                    "is written"
                )  # fmt: skip
                raise ProjectError(f"{by.text} {said}")
        except ProjectError as error:
            notes.append(f"no profile of {_TRAINED}: {str(error)[-_SHOWN:]}")
            return None
        return self._profile

    def read_profile(self, file: Path, notes: list[str]) -> Path:
        """Raise `ProjectError`: counts of GCC's fit only the build that wrote them."""
        raise ProjectError(
            f"{file}: with GCC no profile from production can be used, because its counts fit only "
            "the build that wrote them: give a --train command instead of --profile, or leave "
            "--compiler out"
        )

    def with_callers(self, plan: BinaryPlan, by: RunCommand, notes: list[str]) -> None:
        """Return None: GCC's counts do not know who called."""

    def lay_out(self, plan: BinaryPlan, by: RunCommand, notes: list[str]) -> None:
        """Return None: the linked file stays as GNU ld lays it out."""

    def require_possible(self, plan: BinaryPlan) -> None:
        """Raise `PlanError` that names what of `plan` is never decided."""
        require_fast(plan)

    @property
    def _profile(self) -> Path:
        return self.maker.folder / _TRAINED / "program.gcda.tar"

    def _is_free(self, choice: Choice) -> bool:
        return not any(find_option(flag) in self.decided for flag in choice.flags)


def require_fast(plan: BinaryPlan) -> None:
    """Raise `PlanError` that names what of `plan` no tuning for speed decides."""
    require_nothing_in(plan, "scope", "passes", "options", "after", "after_profile")
    flags = {flag for choice in (*CHOICES, *FRONT.values()) for flag in choice.flags}
    require_among(plan, "flag", plan.flags, flags)
    require_among(plan, "linker option", plan.linker, LINKER)
