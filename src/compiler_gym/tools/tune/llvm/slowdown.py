# SPDX-License-Identifier: MIT
"""Keep a smaller program within the allowed slowdown.

If the user gave a run command, it is timed alternately with the program and its fair rival.
Otherwise llvm-mca's cycles are compared, weighted with estimated block frequencies.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from compiler_gym.registration import make
from compiler_gym.tools.tune import BinaryPlan, Build, RunCommand
from compiler_gym.tools.tune.llvm.deciding import DEFAULT_PASSES, of_modules
from compiler_gym.tools.tune.llvm.flags import POLICY_PASSES
from compiler_gym.tools.tune.llvm.linker import Linker
from compiler_gym.tools.tune.llvm.program import LlvmMaker, Whole
from compiler_gym.tools.tune.runs import compare_in_turns

_ROUNDS = 5
_SECONDS = 1800.0


@dataclass
class Slowdown:
    """The limit on the slowdown of one binary relative to its fair rival."""

    linker: Linker
    run: RunCommand | None
    whole: Whole
    fair: Path
    allowed: float
    """Largest slowdown to accept, as a fraction: 0.03 means 3 %."""
    notes: list[str] = field(default_factory=list[str])
    speed: dict[str, float] = field(default_factory=dict[str, float])
    """The speedup measured last, with its interval; empty if nothing was timed."""
    _rival_cycles: float | None = None

    def within(self, build: Build) -> Build | None:
        """Return the part of `build` that is fast enough, or None if there is none.

        Decisions are reverted one at a time, starting with the passes because they cost most time.
        If another decision turns out to be the cause, the passes are restored.
        """
        if self._is_fast_enough(build):
            return build
        decisions = [name for name in build.plan.decisions() if not name.startswith("linker ")]
        variant = build
        for number, decision in enumerate(decisions):
            variant = self._make(variant.plan.without(decision))
            if not self._is_fast_enough(variant):
                continue
            self.notes.append(
                f"reverted decisions that slow the program down by more than {self.allowed:.1%}: "
                + ", ".join(decisions[: number + 1])
            )
            return self._with_passes(build.plan, variant) if number else variant
        self.notes.append(f"no variant stays within a slowdown of {self.allowed:.1%}")
        return None

    def _with_passes(self, plan: BinaryPlan, variant: Build) -> Build:
        if not plan.passes:
            return variant
        speed = dict(self.speed)
        restored = self._make(replace(variant.plan, passes=plan.passes))
        if self._is_fast_enough(restored):
            self.notes[-1] += "; kept the passes, which are not the cause"
            return restored
        self.speed = speed
        return variant

    def _make(self, plan: BinaryPlan) -> Build:
        name = f"within-{len(plan.decisions())}-{bool(plan.passes):d}"
        return Build(plan, LlvmMaker(self.linker, self.whole, plan).make(name))

    def _is_fast_enough(self, build: Build) -> bool:
        if self.run is None:
            return self._cycles(build.plan) <= self._cycles(None) * (1 + self.allowed)
        comparison, _ = compare_in_turns(self.run, self.fair, build.path, _ROUNDS)
        self.speed = {"speedup": comparison.speedup, "low": comparison.low, "high": comparison.high}
        return comparison.speedup >= 1 / (1 + self.allowed)

    def _cycles(self, plan: BinaryPlan | None) -> float:
        """Return the estimated cycles of `plan`, or of -Oz for the whole program without a plan."""
        if plan is None and self._rival_cycles is not None:
            return self._rival_cycles
        env: Any = make("llvm-v0", action_space="PassesAndCodegen")
        with env:
            env.reset(benchmark=self.whole.benchmark(), timeout=_SECONDS)
            is_own = plan is not None and plan.passes != POLICY_PASSES
            passes = (plan.passes if plan is not None and is_own else "") or DEFAULT_PASSES
            actions = env.commandline_to_actions(passes)
            env.multistep(actions, [], [], timeout=_SECONDS)
            if plan is not None:
                env.codegen = of_modules(plan.options)
            cycles = float(env.observation["McaCycles"])
        if plan is None:
            self._rival_cycles = cycles
        return cycles
