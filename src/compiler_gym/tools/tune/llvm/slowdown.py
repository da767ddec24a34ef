# SPDX-License-Identifier: MIT
"""Keep a smaller program from being slower than was allowed.

Where the user gave a run, it is timed in turns with the fair rival. Where not, llvm-mca's
cycles are compared, each block as often as the compiler guesses that it runs.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from compiler_gym.registration import make
from compiler_gym.tools.tune import BinaryPlan, RunCommand
from compiler_gym.tools.tune.comparing import compare_in_turns
from compiler_gym.tools.tune.llvm.deciding import of_modules
from compiler_gym.tools.tune.llvm.linking import Linker
from compiler_gym.tools.tune.llvm.making import LlvmMaker
from compiler_gym.tools.tune.llvm.whole import Whole

__all__ = ["Slowdown"]

_ROUNDS = 5
_SECONDS = 1800.0


@dataclass
class Slowdown:
    """What one binary may cost in time, against its fair rival."""

    linker: Linker
    run: RunCommand | None
    whole: Whole
    fair: Path
    allowed: float
    """As a fraction: 0.03 is three per cent."""
    notes: list[str] = field(default_factory=list[str])
    speed: dict[str, float] = field(default_factory=dict[str, float])
    """Of what was last measured; empty where nothing ran."""
    _rival_cycles: float | None = None

    def within(self, plan: BinaryPlan, path: Path) -> tuple[BinaryPlan, Path] | None:
        """Return as much of `plan` as is not too slow, with its binary; None where nothing is.

        Decisions go back to the default one after the other, the passes first, as these cost
        most; where something else turns out to have been it, they come back.
        """
        if self._is_well(plan, path):
            return plan, path
        decisions = [name for name in plan.decisions() if not name.startswith("linker ")]
        kept = plan
        for number, decision in enumerate(decisions):
            kept = kept.only([name for name in kept.decisions() if name != decision])
            path = self._make(kept)
            if not self._is_well(kept, path):
                continue
            self.notes.append(
                f"left out, as they slow the program down by more than {self.allowed:.1%}: "
                + ", ".join(decisions[: number + 1])
            )
            return self._with_passes(plan, kept, path) if number else (kept, path)
        self.notes.append(f"nothing was within a slowdown of {self.allowed:.1%}")
        return None

    def _with_passes(
        self, plan: BinaryPlan, kept: BinaryPlan, path: Path
    ) -> tuple[BinaryPlan, Path]:
        if not plan.passes:
            return kept, path
        before, again = dict(self.speed), replace(kept, passes=plan.passes)
        other = self._make(again)
        if self._is_well(again, other):
            self.notes[-1] += "; the passes were not it, and stay"
            return again, other
        self.speed = before
        return kept, path

    def _make(self, plan: BinaryPlan) -> Path:
        return LlvmMaker(self.linker, self.whole, plan).make(
            f"within-{len(plan.decisions())}-{bool(plan.passes):d}"
        )

    def _is_well(self, plan: BinaryPlan, path: Path) -> bool:
        if self.run is None:
            return self._cycles(plan) <= self._cycles(None) * (1 + self.allowed)
        found, _ = compare_in_turns(self.run, self.fair, path, _ROUNDS)
        self.speed = {"speedup": found.speedup, "low": found.low, "high": found.high}
        return found.speedup >= 1 / (1 + self.allowed)

    def _cycles(self, plan: BinaryPlan | None) -> float:
        """Return the guessed cycles of `plan`, or of what -Oz makes of the whole program."""
        if plan is None and self._rival_cycles is not None:
            return self._rival_cycles
        env: Any = make("llvm-v0", action_space="PassesAndCodegen")
        with env:
            env.reset(benchmark=self.whole.benchmark(), timeout=_SECONDS)
            passes = "default<Oz>" if plan is None else plan.passes or "default<Oz>"
            actions = env.commandline_to_actions(passes)
            env.multistep(actions, [], [], timeout=_SECONDS)
            if plan is not None:
                env.codegen = of_modules(plan.options)
            cycles = float(env.observation["McaCycles"])
        if plan is None:
            self._rival_cycles = cycles
        return cycles
