# SPDX-License-Identifier: MIT
"""Test a tuned binary, and revert the decisions that break it.

The binary must export the same symbols and need the same libraries as the project's own build:
optimisation may drop weak symbols, such as those of inline functions, but neither a symbol that a
source defines for others nor a library. The user's run must have the same exit status and output as
with the project's own build, and the user's tests must pass. A failing decision is reverted; a
bisection finds the failing pass.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from compiler_gym.builds import read_interface
from compiler_gym.errors import ProjectError
from compiler_gym.search import smallest_failing
from compiler_gym.tools.tune.plan import BinaryPlan
from compiler_gym.tools.tune.runs import RunOutcome, put
from compiler_gym.tools.tune.tuner import Found, Tuner, TuningSubject

_OF_LINKERS = {
    "_init",
    "_fini",
    "_start",
    "_end",
    "_edata",
    "_etext",
    "end",
    "edata",
    "etext",
    "__bss_start",
    "__data_start",
    "_IO_stdin_used",
}
"""Symbols of linkers and of start-up files, which not every linker exports."""
_OF_COMPILERS = ("libc.", "libm.", "libgcc_s.", "ld-linux", "libatomic.")
"""Beginnings of the libraries that compilers add for the code that they generate."""
_SHOWN = 3
_PASSES = "passes"


def explain_difference(original: Path, built: Path, *, is_library: bool) -> str:
    """Return what `built` has lost, or added to, the interface of `original`; empty if nothing.

    A program may export more, because linkers differ in that.
    """
    (old, old_libraries), (new, new_libraries) = map(read_interface, (original, built))
    added = {name for name in new_libraries - old_libraries if not name.startswith(_OF_COMPILERS)}
    found = {
        "does not export": old - new,
        "also exports": new - old if is_library else set[str](),
        "also needs the library": added,
    }
    return "; ".join(
        f"{verb} {', '.join(sorted(names - _OF_LINKERS)[:_SHOWN])}"
        for verb, names in found.items()
        if names - _OF_LINKERS
    )


@dataclass(frozen=True, slots=True)
class Proof:
    """The tests of one binary."""

    tuner: Tuner
    subject: TuningSubject
    original: Path
    """The binary of the project's own build, which gives the expected results."""
    check: Callable[[Path], RunOutcome] | None
    """Runs the project's tests in a tree; None if there are none."""
    tree: Path
    says: Callable[[str], None]

    def prove(self, found: Found) -> Found:
        """Return `found` without its failing decisions.

        If the remaining plan is not smaller than the baseline, return the baseline. Raises
        `ProjectError` if the binary fails even without any decision.
        """
        if self.is_well(found.path):
            return found
        self.says("a test fails: looking for the decision that causes it")
        plan, reverted = self._keep_passing(found)
        path = self._make(plan)
        fair = list(found.rivals.values())[-1]
        is_not_smaller = self._size(path) >= self._size(fair)
        found = replace(found, gains={}, taken_back=reverted)
        if not (self.subject.goal.counts_bytes and is_not_smaller) or found.rival_plan is None:
            return replace(found, plan=plan, path=path)
        if self.is_well(fair):
            return replace(found, plan=found.rival_plan, path=fair)
        name = list(found.rivals)[-1]
        notes = (*found.notes, f"{name} is smaller, but fails the same tests")
        return replace(found, plan=plan, path=path, notes=notes)

    def is_well(self, path: Path) -> bool:
        """Return whether the binary at `path` has the original's interface, and passes the run and
        the tests."""
        if difference := self._difference(path):
            self.says(f"refused a build of {self.subject.binary.name}, because it {difference}")
            return False
        run = self.subject.run
        if run is not None:
            before, after = run.run(self.original), run.run(path)
            if after.status != before.status:
                return False
            if after.output != before.output and run.run(self.original).output == before.output:
                return False
        if self.check is None:
            return True
        self.says(f"testing the tuned {self.subject.binary.name}")
        put(path, self.subject.binary.path)
        return any(self.check(self.tree).status == 0 for _ in range(2))

    def _difference(self, path: Path) -> str:
        is_library = self.subject.binary.is_shared
        return explain_difference(self.original, path, is_library=is_library)

    def _keep_passing(self, found: Found) -> tuple[BinaryPlan, tuple[str, ...]]:
        """Return the plan without the failing decision, or without several if need be."""
        plan = found.plan
        for decision in plan.decisions():
            without = plan.without(decision)
            if self._passes(without):
                if decision == _PASSES:
                    return self._without_the_pass(plan, without)
                return without, (decision,)
        remaining, reverted = plan, list[str]()
        for decision in plan.decisions():
            remaining = remaining.without(decision)
            reverted.append(decision)
            if self._passes(remaining):
                return remaining, tuple(reverted)
        if difference := self._difference(self._make(remaining)):
            raise ProjectError(
                f"{self.subject.binary.name} differs from the project's own build when linked "
                f"again, even without tuning: it {difference}; report this with the link command"
            )
        failing = [name for name, path in found.rivals.items() if not self.is_well(path)]
        also = f", and so do the builds with {', '.join(failing)}" if failing else ""
        raise ProjectError(
            f"{self.subject.binary.name} fails its tests when compiled and linked again, even "
            f"without tuning{also}; it may depend on your own flags or contain undefined "
            "behaviour: check the test command, and build the project once with "
            "-fsanitize=undefined"
        )

    def _without_the_pass(
        self, plan: BinaryPlan, without: BinaryPlan
    ) -> tuple[BinaryPlan, tuple[str, ...]]:
        """Return `plan` without its first failing pass, or `without`, which has no passes."""
        steps = self.tuner.steps(plan)
        if not steps or not self._passes(self.tuner.with_steps(plan, ())):
            return without, (_PASSES,)
        failing = 1 + smallest_failing(
            len(steps) - 1,
            lambda last: not self._passes(self.tuner.with_steps(plan, steps[: last + 1])),
        )
        name = f"pass {failing} of {len(steps)}: {steps[failing - 1]}"
        fixed = self.tuner.with_steps(plan, [*steps[: failing - 1], *steps[failing:]])
        path = self._make(fixed)
        if self.is_well(path) and self._size(path) <= self._size(self._make(without)):
            return fixed, (name,)
        return without, (f"{_PASSES} ({name} fails)",)

    def _size(self, path: Path) -> int:
        return self.subject.measure.of(path)

    def _passes(self, plan: BinaryPlan) -> bool:
        return self.is_well(self._make(plan))

    def _make(self, plan: BinaryPlan) -> Path:
        folder = self.subject.folder / "proof"
        return self.tuner.build(self.subject.binary, plan, folder, jobs=self.subject.jobs)
