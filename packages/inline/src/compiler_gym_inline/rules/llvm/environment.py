# SPDX-License-Identifier: MIT
"""The environment whose actions are rules of the linker."""

import contextlib
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from compiler_gym.core import CompilerEnv, CompilerEnvState
from compiler_gym.datasets import Dataset
from compiler_gym.errors import RequestError
from compiler_gym.files import scratch_directory
from compiler_gym.service import SessionSource
from compiler_gym.spaces import CostReward, Reward
from compiler_gym.validation import (
    Finding,
    Rung,
    Subject,
    ValidationError,
    ValidationResult,
    choose_rungs,
    climb,
)
from compiler_gym_inline.rules.llvm.datasets import RuleProgramSets
from compiler_gym_inline.rules.llvm.linking import RuleBench
from compiler_gym_inline.rules.llvm.rule import Rule

__all__ = ["LlvmRuleEnv"]

_FRESH = 4
_MOST_NUMBER = 1 << 31


class LlvmRuleEnv(CompilerEnv):
    """Write a rule that decides inside stock lld, and save loaded bytes.

    - Actions: texts. Each line ``NAME = FORMULA`` replaces the rule for one decision.
    - Observations: ``RuleEffect``, the rule and the loaded bytes of each program;
      ``RuleProblem`` with the last action; ``RuleInputs``, the header that documents formulas;
      ``LoadedBytes`` and ``LoadedBytesPlain``.
    - Reward: the loaded bytes that the rule saves on all programs, against the same link without
      a rule.
    - End: an episode ends with a rule that breaks a program. ``RuleProblem`` then names the program
      and the first decision that breaks it, and everything earned is taken back. A text that is
      not a rule changes nothing.
    - Programs: sets of bundled programs, ``rule-programs-v0``.

        >>> import compiler_gym
        >>> with compiler_gym.make("llvm-rule-v0", reward_space="LoadedBytes") as env:
        ...     _ = env.reset()
        ...     _, reward, *_ = env.step("inline = default")
        >>> reward
        0.0
    """

    default_benchmark: ClassVar[str | None] = "benchmark://rule-programs-v0/small"
    state_observation: ClassVar[str | None] = "RuleText"

    def __init__(
        self,
        *,
        datasets: Iterable[Dataset] | None = None,
        rewards: Iterable[Reward] = (),
        **options: Any,
    ) -> None:
        saved = CostReward(
            "LoadedBytes", cost="LoadedBytes", initial="LoadedBytesPlain",
            platform_dependent=True, unit="bytes",
        )  # fmt: skip
        super().__init__(
            SessionSource("compiler_gym_inline.rules.llvm.session:LlvmRuleSession"),
            rewards=(saved, *rewards),
            datasets=[RuleProgramSets()] if datasets is None else datasets,
            **options,
        )

    def commandline(self) -> str:
        """Return the rule, which alone decides the result of an episode."""
        if self.episode.has_program:
            return self.observation["RuleText"]
        rule = Rule()
        for action in self.actions:
            with contextlib.suppress(RequestError):  # it was not a rule, and changed nothing
                rule = rule.edit(action)
        return rule.text

    def commandline_to_actions(self, commandline: str) -> list[Any]:
        """Return the action that makes the rule `commandline`; none for an empty rule."""
        return [commandline] if commandline else []

    def validate(
        self, state: CompilerEnvState | None = None, *, rungs: Iterable[str] | None = None
    ) -> ValidationResult:
        """Replay `state` (default: the current one), and run its programs on more inputs."""
        state = self.state if state is None else state
        return climb(state, self._twin, choose_rungs(_RUNGS, rungs))

    def _state_hash(self) -> str | None:
        return self.observation["RuleText"]

    def _render_text(self) -> str:
        effect = self.observation["RuleEffect"]
        lines = [f"{p['program']}: {p['plain']:,} -> {p['loaded']:,}" for p in effect["programs"]]
        return "\n".join(filter(None, [effect["rule"], self.observation["RuleProblem"], *lines]))


def _check_runs(subject: Subject) -> Finding:
    names = subject.benchmark.contents.decode().split("\n")
    rule = Rule().edit(subject.env.observation["RuleText"])
    numbers = [secrets.randbelow(_MOST_NUMBER) for _ in range(_FRESH)]
    with scratch_directory("rules") as folder:
        broken = RuleBench(names, Path(folder)).run_more(rule, numbers)
    return Finding.fail([ValidationError(str(broken), {})]) if broken else Finding.ok()


_RUNGS = (
    Rung("run", "Do the programs print what they should, on recorded and on new inputs?",
         _check_runs),
)  # fmt: skip
