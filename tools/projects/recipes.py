# SPDX-License-Identifier: MIT
"""Find a recipe: what most projects are smaller with, and how one fares that was not looked at.

All that may help is decided at first. Then the decision without which the projects are smaller
in geometric mean is taken back, one after the other, until there is none. That is done once with
all projects, and once without each: how a project fares with the recipe of the others is what
the recipe promises for projects that nobody has seen. What is measured is the linked, stripped
file's loaded bytes; it is kept in ``recipes.jsonl``, so that nothing is linked twice.
"""

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import geometric_mean

from compiler_gym.builds import Binary, Recording, find_binaries, record_build
from compiler_gym.envs.llvm.tuning.link_time import build_plan
from compiler_gym.envs.llvm.tuning.linking import FOLDING, SMALL, TAILS, Linker
from compiler_gym.envs.llvm.tuning.llvm_tuner import LlvmTuner
from compiler_gym.tuning import BinaryPlan
from tools.projects.measuring import Sizes, sizes
from tools.projects.table import Project

__all__ = ["ALL", "print_recipes"]

ALL = BinaryPlan(
    "program",
    SMALL,
    "default<Oz>",
    {
        "enable-machine-outliner": "always",
        "outliner-benefit-threshold": "8",
        "apply-ext-tsp-for-size": "true",
        "disable-machine-licm": "true",
        "disable-lsr": "true",
        "x86-br-merging-base-cost": "-1",
        "split-spill-mode": "size",
    },
    linker=(*FOLDING, TAILS),
)
"""Every decision that is neither unsafe nor known to win nothing: see the recipe's ``left_out``."""
_FAIR = BinaryPlan("program", SMALL, linker=FOLDING)
_LEAST = 0.0002
"""What a decision must win, as a share of the file."""
_CLEAR = 0.005
"""What a decision has won that need not be doubted again."""


class _Bench:
    """Links projects by plans, and remembers what came of it."""

    def __init__(self, into: Path, jobs: int) -> None:
        self._into, self._jobs = into, jobs
        self._kept = into / "recipes.jsonl"
        lines = self._kept.read_text().splitlines() if self._kept.exists() else []
        self._known = {tuple(row["key"]): Sizes(**row["sizes"]) for row in map(json.loads, lines)}
        self._binaries = dict[str, Binary]()

    def sizes(self, project: Project, plan: BinaryPlan) -> Sizes:
        """Return what `project` weighs, built by `plan`."""
        key = (project.name, *sorted(plan.decisions()))
        if key not in self._known:
            linker = Linker(self._binary(project), self._folder(project) / "made", self._jobs)
            found = sizes(build_plan(linker, replace(plan, name=project.binary)))
            self._known[key] = found
            row = {"key": key, "sizes": {"text": found.text, "loaded": found.loaded,
                                         "total": found.total}}  # fmt: skip
            with self._kept.open("a") as file:
                file.write(json.dumps(row) + "\n")
        return self._known[key]

    def share(self, projects: Sequence[Project], plan: BinaryPlan) -> float:
        """Return what `plan` leaves of the loaded bytes of the fair rival's builds."""
        return geometric_mean(
            [self.sizes(p, plan).loaded / self.sizes(p, _FAIR).loaded for p in projects]
        )

    def _folder(self, project: Project) -> Path:
        return (self._into / "builds" / project.name / "recipe").resolve()

    def _binary(self, project: Project) -> Binary:
        """Return the recorded build of `project`, built where it has not been."""
        if project.name not in self._binaries:
            folder = self._folder(project)
            tree, record, done = folder / "tree", folder / "record", folder / "done"
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)
                shutil.copytree(self._into / project.name / "source", tree, symlinks=True)
                compiler, cxx = LlvmTuner().compilers
                script = ("sh", str(self._into / project.name / "build.sh"))
                record_build(tree, script, record, compiler=compiler, cxx_compiler=cxx)
                done.touch()
            found = find_binaries(Recording(record, tree).events(), tree)
            self._binaries[project.name] = next(b for b in found if b.name == project.binary)
        return self._binaries[project.name]


def _found(bench: _Bench, projects: Sequence[Project]) -> BinaryPlan:
    """Return what is left of all decisions when none can be taken back from `projects`.

    A decision that won clearly is not doubted again: what else is left out hardly changes that.
    """
    plan, best = ALL, bench.share(projects, ALL)
    doubted = [one for one in ALL.decisions() if one not in _FAIR.decisions()]
    while True:
        shares = {one: bench.share(projects, plan.without(one)) for one in doubted}
        worst = min(doubted, key=lambda one: shares[one], default="")
        if not worst or shares[worst] > best + _LEAST:
            return plan
        plan, best = plan.without(worst), shares[worst]
        doubted = [one for one in doubted if one != worst and shares[one] < best + _CLEAR]


def print_recipes(projects: Sequence[Project], into: Path, jobs: int) -> None:
    """Print the recipe of all `projects`, and a table of each under the recipe of the others."""
    bench = _Bench(into, jobs)
    rows = list[str]()
    shares = list[tuple[float, float]]()
    for project in projects:
        plan = _found(bench, [other for other in projects if other is not project])
        before, after = bench.sizes(project, _FAIR), bench.sizes(project, plan)
        shares.append((after.loaded / before.loaded, after.text / before.text))
        out = sorted(set(ALL.decisions()) - set(plan.decisions()))
        rows.append(
            f"| {project.name} | {before.loaded:,} | {after.loaded:,} "
            f"| {after.loaded / before.loaded - 1:+.1%} | {after.text / before.text - 1:+.1%} "
            f"| {', '.join(out) or 'nothing'} |"
        )
        print(rows[-1], flush=True)
    loaded, text = (geometric_mean([pair[at] for pair in shares]) - 1 for at in (0, 1))
    print("\n| project | loaded, fair rival | recipe of the others | change | code | left out |")
    print("|---|---:|---:|---:|---:|---|")
    print("\n".join([*rows, f"| geometric mean | | | {loaded:+.1%} | {text:+.1%} | |"]))
    whole = _found(bench, projects)
    print(f"\nThe recipe of all: {bench.share(projects, whole) - 1:+.1%}")
    print("\n".join(whole.decisions()))
