# SPDX-License-Identifier: MIT
"""What a search for speed decides: choices out of a compiler's table, a profile, a layout.

A choice is words for the compiler and for the linker, and nothing that changes what machine the
program needs, how floating point behaves, or what it links to.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from compiler_gym.tools.tune.measuring import RunCommand
from compiler_gym.tools.tune.plan import BinaryPlan

__all__ = ["Choice", "SpeedDecisions", "add_choice", "list_actions", "make_plan"]


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that may make programs faster, or slower."""

    flags: tuple[str, ...] = ()
    linker: tuple[str, ...] = ()


class SpeedDecisions(Protocol):
    """A compiler's part of a tuning of one binary by runs of it.

    What is given `notes` adds sentences to them that the user should be told.
    """

    @property
    def fair(self) -> str:
        """What makes the fair rival, as people write it."""
        ...

    @property
    def by_hand(self) -> str:
        """What makes the rival that people build who use a profile by hand."""
        ...

    @property
    def choices(self) -> Sequence[Choice]:
        """What may make the program faster, in the order in which it is tried."""
        ...

    @property
    def front(self) -> Mapping[str, Choice]:
        """Builds with a profile, from hot and fast to cold and small, in the order of building."""
        ...

    @property
    def front_base(self) -> str:
        """The build of `front` that the search for the fastest begins with."""
        ...

    @property
    def lays_out(self) -> bool:
        """True if the linked file can be laid out as runs of it say."""
        ...

    @property
    def profiles(self) -> Collection[str]:
        """Where profiles are put."""
        ...

    @property
    def layouts(self) -> Collection[str]:
        """Where is put what a layout is made by."""
        ...

    def find_option(self, word: str) -> str:
        """Return what `word` sets: of two words with the same, the later stands alone."""
        ...

    def plain(self) -> BinaryPlan:
        """Return the plan that makes the fair rival."""
        ...

    def build(self, plan: BinaryPlan, *, jobs: int) -> Path:
        """Return the stripped binary of `plan`; raise `ProjectError` where it fails."""
        ...

    def train_profile(self, by: RunCommand, notes: list[str]) -> Path | None:
        """Return a profile of the command `by`; None where there is none."""
        ...

    def read_profile(self, file: Path, notes: list[str]) -> Path:
        """Return the profile `file` from production as the compiler reads it.

        Raises `ProjectError` where it cannot be read, or is of another program.
        """
        ...

    def with_callers(self, plan: BinaryPlan, by: RunCommand, notes: list[str]) -> BinaryPlan | None:
        """Return `plan` with a profile that also knows who called; None where there is none."""
        ...

    def lay_out(self, plan: BinaryPlan, by: RunCommand, notes: list[str]) -> BinaryPlan | None:
        """Return `plan` laid out as a run of `by` says; None where that fails."""
        ...

    def require_possible(self, plan: BinaryPlan) -> None:
        """Raise `PlanError` that names what of `plan` is never decided."""
        ...


def add_choice(plan: BinaryPlan, choice: Choice, option_of: Callable[[str], str]) -> BinaryPlan:
    """Return `plan` with `choice` instead of what says something else of the same option."""
    named = {option_of(flag) for flag in (*choice.flags, *choice.linker)}

    def keep_others(words: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
        return (*(word for word in words if option_of(word) not in named), *more)

    return replace(
        plan,
        flags=keep_others(plan.flags, choice.flags),
        linker=keep_others(plan.linker, choice.linker),
    )


def list_actions(plan: BinaryPlan) -> tuple[str, ...]:
    """Return what is written of `plan` in the journal."""
    profile = (f"profile {plan.profile}",) if plan.profile else ()
    after = (f"layout {plan.after_profile}",) if plan.after_profile else ()
    named = (name for name in plan.decisions() if name != "profile")
    return (*profile, *after, *named)


def make_plan(actions: Sequence[str], plan: BinaryPlan) -> BinaryPlan:
    """Return `plan` with the decisions that `actions` are in the journal."""
    words = [action.partition(" ") for action in actions]
    return replace(
        plan,
        flags=tuple(value for kind, _, value in words if kind == "flag"),
        linker=tuple(value for kind, _, value in words if kind == "linker"),
        after=tuple(value for kind, _, value in words if kind == "after"),
        profile=next((value for kind, _, value in words if kind == "profile"), ""),
        after_profile=next((value for kind, _, value in words if kind == "layout"), ""),
    )
