# SPDX-License-Identifier: MIT
"""Tell whether a tuned binary is right, and take back what is not.

The user's run must end and answer as with the project's own build, and the user's tests must
pass. A decision that fails goes back to the compiler's default; of many passes it is the one.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from compiler_gym.builds import measure_sizes
from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune.front import FrontBuild, recommend_build
from compiler_gym.tools.tune.measuring import RunOutcome, put
from compiler_gym.tools.tune.plan import BinaryPlan
from compiler_gym.tools.tune.tuner import Found, Tuner, TuningSubject

__all__ = ["Proof"]

_PASSES = "passes"


@dataclass(frozen=True, slots=True)
class Proof:
    """What one binary has to pass."""

    tuner: Tuner
    subject: TuningSubject
    original: Path
    """The project's own build, for the answers that are expected."""
    check: Callable[[Path], RunOutcome] | None
    """Tests the project in a tree."""
    tree: Path
    says: Callable[[str], None]

    def proven(self, found: Found) -> tuple[Found, tuple[str, ...]]:
        """Return as much of `found` as passes, and the decisions that were taken back.

        Where what is left is no better than the fair rival, it is the rival. Raises
        `ProjectError` where the binary fails without any decision, too.
        """
        found = self._with_front(found)
        if found.front or self.is_well(found.path):
            return found, ()
        self.says("a test fails: looking for the decision that it fails with")
        kept, taken = self._keep_passing(found)
        path = self._make(kept)
        fair = list(found.rivals.values())[-1]
        is_no_better = self._size(path) >= self._size(fair)
        if not (self.subject.goal.counts_bytes and is_no_better) or found.rival_plan is None:
            return replace(found, plan=kept, path=path, gains={}), taken
        if self.is_well(fair):
            return replace(found, plan=found.rival_plan, path=fair, gains={}), taken
        name = list(found.rivals)[-1]
        notes = (*found.notes, f"{name} is smaller, and fails the same tests")
        return replace(found, plan=kept, path=path, gains={}, notes=notes), taken

    def _with_front(self, found: Found) -> Found:
        """Return `found` with those builds of its front that pass, and the best of them."""
        subject, names = self.subject, list[str]()
        well = list[FrontBuild]()
        for build in found.front:
            if self.is_well(build.path):
                well.append(build)
            else:
                names.append(build.name)
        if not names:
            return found
        notes = (*found.notes, f"left out of the front, as a test fails: {', '.join(names)}")
        fair = measure_sizes(list(found.rivals.values())[-1]).text
        best = recommend_build(
            well, fair, max_slowdown=subject.max_slowdown, max_growth=subject.max_growth
        )
        if best is None:
            return replace(found, front=(), notes=notes)
        return replace(
            found, front=tuple(well), plan=best.plan, path=best.path, speed=best.speed, notes=notes
        )

    def is_well(self, path: Path) -> bool:
        """Return whether the binary at `path` does what it should."""
        run = self.subject.run
        if run is not None:
            expected, found = run.run(self.original), run.run(path)
            if found.status != expected.status:
                return False
            if found.output != expected.output and run.run(self.original).output == expected.output:
                return False
        if self.check is None:
            return True
        self.says(f"testing the tuned {self.subject.binary.name}")
        put(path, self.subject.binary.path)
        return any(self.check(self.tree).status == 0 for _ in range(2))

    def _keep_passing(self, found: Found) -> tuple[BinaryPlan, tuple[str, ...]]:
        """Return the plan without the decision that fails; without several where it is not one."""
        plan = found.plan
        for decision in plan.decisions():
            without = plan.without(decision)
            if self._passes(without):
                if decision == _PASSES:
                    return self._without_the_pass(plan, without)
                return without, (decision,)
        kept, taken = plan, list[str]()
        for decision in plan.decisions():
            kept = kept.without(decision)
            taken.append(decision)
            if self._passes(kept):
                return kept, tuple(taken)
        failing = [name for name, path in found.rivals.items() if not self.is_well(path)]
        others = f", and so do the builds with {', '.join(failing)}" if failing else ""
        raise ProjectError(
            f"{self.subject.binary.name} fails its tests without any decision of ours{others}: "
            "expected the same program, compiled and linked anew, to pass; it relies on how "
            "its own flags compile and link it, which undefined behaviour does, too; look at the "
            "check, and build with -fsanitize=undefined once"
        )

    def _without_the_pass(
        self, plan: BinaryPlan, without: BinaryPlan
    ) -> tuple[BinaryPlan, tuple[str, ...]]:
        """Return `plan` without the first pass that it fails with, or `without` any."""
        steps = self.tuner.steps(plan)
        well, fails = 0, len(steps)
        while fails - well > 1:
            middle = (well + fails) // 2
            if self._passes(self.tuner.with_steps(plan, steps[:middle])):
                well = middle
            else:
                fails = middle
        if not steps or not self._passes(self.tuner.with_steps(plan, ())):
            return without, (_PASSES,)
        name = f"pass {fails} of {len(steps)}: {steps[fails - 1]}"
        others = self.tuner.with_steps(plan, [*steps[: fails - 1], *steps[fails:]])
        made = self._make(others)
        if self.is_well(made) and self._size(made) <= self._size(self._make(without)):
            return others, (name,)
        return without, (f"{_PASSES}, of which {name} fails",)

    def _size(self, path: Path) -> int:
        return self.subject.measure.of(path)

    def _passes(self, plan: BinaryPlan) -> bool:
        return self.is_well(self._make(plan))

    def _make(self, plan: BinaryPlan) -> Path:
        folder = self.subject.folder / "proof"
        return self.tuner.build(self.subject.binary, plan, folder, jobs=self.subject.jobs)
