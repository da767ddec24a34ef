# SPDX-License-Identifier: MIT
"""A compiler's part of a tuning in a few lines: every decision is a flag of cc."""

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from compiler_gym.sandbox import build_variables
from compiler_gym.tools.tune import BinaryPlan, Found, Meaning, TuningSubject
from compiler_gym.tools.tune.builds import Binary, shell_text


class SimpleTuner:
    """Finds the flags that it was made with."""

    def __init__(self, *flags: str, passes: str = "") -> None:
        self.flags = flags
        self.passes = passes
        """Flags that stand for passes."""
        self.start: BinaryPlan | None = None
        """What the last search was given to start from."""
        self.built: list[tuple[str, ...]] = []

    @property
    def version(self) -> str:
        return "simple 1"

    @property
    def compilers(self) -> tuple[Sequence[str], Sequence[str]]:
        return ["cc"], ["c++"]

    def tune(self, subject: TuningSubject) -> Found:
        self.start = subject.start
        plan = BinaryPlan(subject.binary.name, "simple", self.passes, flags=self.flags)
        rival = self.build(subject.binary, plan.only(()), subject.folder / "rival", jobs=1)
        path = self.build(subject.binary, plan, subject.folder / "tuned", jobs=1)
        return Found(plan, path, {"cc": rival}, 0, 1, rival_plan=plan.only(()))

    def build(self, binary: Binary, plan: BinaryPlan, folder: Path, *, jobs: int) -> Path:
        self.built.append(plan.flags)
        folder.mkdir(parents=True, exist_ok=True)
        output = folder / "made"
        sources = [f"./{binary.name_unit(unit)}" for unit in binary.units]
        words = [*plan.flags, *plan.passes.split(), *sources, *_symbols(binary)]
        subprocess.run(
            ["cc", *words, "-o", output],
            cwd=binary.root,
            check=True,
            env=build_variables(),
        )
        return output

    def require_possible(self, plan: BinaryPlan) -> None:
        """Refuse nothing: tests of the tuning try every flag."""

    def meaning(self, decision: str) -> Meaning:
        return Meaning(f"Says {decision}.", "https://example.org/")

    def steps(self, plan: BinaryPlan) -> tuple[str, ...]:
        return tuple(plan.passes.split())

    def actions(self, plan: BinaryPlan) -> tuple[str, ...]:
        return ()

    def with_steps(self, plan: BinaryPlan, steps: Sequence[str]) -> BinaryPlan:
        return replace(plan, passes=" ".join(steps) or "-w")

    def plain_words(self, plan: BinaryPlan) -> Sequence[str]:
        return ["cc", *plan.flags]

    def script(self, binary: Binary, plan: BinaryPlan) -> str:
        names = " ".join(f'"./{binary.name_unit(unit)}"' for unit in binary.units)
        words = shell_text(
            [*plan.flags, *plan.passes.split(), *_symbols(binary)], {str(binary.root): "ROOT"}
        )
        return f'(cd "$ROOT" && cc {words} {names} -o "$OUT"/{binary.name})\n'

    def write_companions(self, plan: BinaryPlan, folder: Path) -> None:
        """Write nothing: a flag needs no file."""


def _symbols(binary: Binary) -> Sequence[str]:
    return binary.command.debug or ["-s"]
