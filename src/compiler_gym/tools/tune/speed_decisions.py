# SPDX-License-Identifier: MIT
"""The decisions of a search for speed: choices from a compiler's table, a profile, a layout.

A choice consists of flags for the compiler and the linker. It never changes the machine that the
program needs, its floating-point behaviour, or the libraries that it uses.
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
    """Flags that may make a program faster or slower."""

    flags: tuple[str, ...] = ()
    linker: tuple[str, ...] = ()


class SpeedDecisions(Protocol):
    """A compiler's part of a tuning that runs the binary.

    Methods with an argument `notes` append remarks for the user to it.
    """

    @property
    def fair(self) -> str:
        """The label of the baseline: a compiler command."""
        ...

    @property
    def by_hand(self) -> str:
        """The label of the build that only uses a profile, which people make by hand."""
        ...

    @property
    def choices(self) -> Sequence[Choice]:
        """The choices to try, in order."""
        ...

    @property
    def front(self) -> Mapping[str, Choice]:
        """Builds that use a profile, with more and more code optimised for size, in build order."""
        ...

    @property
    def front_base(self) -> str:
        """The build of `front` from which the search for the fastest one starts."""
        ...

    @property
    def lays_out(self) -> bool:
        """True if the linked file can be laid out with a profile of its runs."""
        ...

    @property
    def profiles(self) -> Collection[str]:
        """The paths of profiles."""
        ...

    @property
    def layouts(self) -> Collection[str]:
        """The paths of profiles for layouts."""
        ...

    def find_option(self, word: str) -> str:
        """Return the option that the flag `word` sets; a later flag replaces an earlier one."""
        ...

    def plain(self) -> BinaryPlan:
        """Return the plan of the baseline."""
        ...

    def build(self, plan: BinaryPlan, *, jobs: int) -> Path:
        """Return the stripped binary of `plan`; raise `ProjectError` if the build fails."""
        ...

    def train_profile(self, by: RunCommand, notes: list[str]) -> Path | None:
        """Return a profile of the command `by`; None if it produces none."""
        ...

    def read_profile(self, file: Path, notes: list[str]) -> Path:
        """Convert the profile `file` from production for the compiler, and return its path.

        Raises `ProjectError` if it cannot be read or belongs to another program.
        """
        ...

    def with_callers(self, plan: BinaryPlan, by: RunCommand, notes: list[str]) -> BinaryPlan | None:
        """Return `plan` with a profile that includes callers; None if there is none."""
        ...

    def lay_out(self, plan: BinaryPlan, by: RunCommand, notes: list[str]) -> BinaryPlan | None:
        """Return `plan` with a layout from a run of `by`; None if that fails."""
        ...

    def require_possible(self, plan: BinaryPlan) -> None:
        """Raise a `PlanError` that names the first decision of `plan` that is never made."""
        ...


def add_choice(plan: BinaryPlan, choice: Choice, option_of: Callable[[str], str]) -> BinaryPlan:
    """Return `plan` with `choice`, which replaces flags that set the same options."""
    options = {option_of(flag) for flag in (*choice.flags, *choice.linker)}

    def keep_others(flags: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
        return (*(flag for flag in flags if option_of(flag) not in options), *more)

    return replace(
        plan,
        flags=keep_others(plan.flags, choice.flags),
        linker=keep_others(plan.linker, choice.linker),
    )


def list_actions(plan: BinaryPlan) -> tuple[str, ...]:
    """Return the actions that represent `plan` in the journal."""
    profile = (f"profile {plan.profile}",) if plan.profile else ()
    after = (f"layout {plan.after_profile}",) if plan.after_profile else ()
    others = (name for name in plan.decisions() if name != "profile")
    return (*profile, *after, *others)


def make_plan(actions: Sequence[str], plan: BinaryPlan) -> BinaryPlan:
    """Return `plan` with the decisions that `actions` represent in the journal."""
    pairs = [action.partition(" ") for action in actions]
    return replace(
        plan,
        flags=tuple(value for kind, _, value in pairs if kind == "flag"),
        linker=tuple(value for kind, _, value in pairs if kind == "linker"),
        after=tuple(value for kind, _, value in pairs if kind == "after"),
        profile=next((value for kind, _, value in pairs if kind == "profile"), ""),
        after_profile=next((value for kind, _, value in pairs if kind == "layout"), ""),
    )
