# SPDX-License-Identifier: MIT
"""The environment for passes on one function, and its reward."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from compiler_gym.datasets import Benchmark
from compiler_gym.envs.llvm.environment import LlvmEnv
from compiler_gym.envs.llvm.validation import BugReport
from compiler_gym.errors import MinimizationError
from compiler_gym.service import SessionSource
from compiler_gym.spaces import CostReward, NormalizedCostReward, Reward

__all__ = ["LlvmTailsEnv"]

_COST: dict[str, Any] = {
    "cost": "FunctionInstructionCount",
    "initial": "FunctionInstructionCountInitial",
    "platform_dependent": False,
    "unit": "instructions",
}


class LlvmTailsEnv(LlvmEnv):
    """Improve one function after ``clang -Oz`` with passes on this function alone.

    A reset runs the standard pipeline (-Oz, or -O3 for ``?goal=speed``) on the module. Inlining is
    then done, so functions can be improved independently: the savings of functions add up to the
    saving of the module.

    - Actions: the function passes of ``Passes``. `MacroActions` adds tails of several passes.
    - Observations: ``FunctionCounts``, the features of the function, its name, size and hash, and
      those of ``llvm-v0`` for the module.
    - Rewards: ``FunctionSavings``, the improvement of the smallest size so far as a share of the
      function's size at reset. It is never negative: stopping is free, and an episode ends with the
      best of its prefixes. ``FunctionInstructionCount``, the instructions saved by each action.
    - End: an episode never ends by itself; it is truncated if a pass crashes, hangs or exceeds
      its limits.
    - Programs: those of ``llvm-v0``.

    ``?function=NAME`` in the address of a program chooses the function. Otherwise each reset draws
    one, large ones more often: the mean of episodes is then the share of instructions that the
    module saves. ``?draw=NUMBER`` in the address of the episode repeats a draw.

        >>> import compiler_gym
        >>> with compiler_gym.make("llvm-tails-v0", reward_space="FunctionSavings") as env:
        ...     _ = env.reset(benchmark="cbench-v1/gsm?function=main")
        ...     _, reward, *_ = env.step(env.action_space["gvn"])
        >>> reward >= 0
        True
    """

    source: ClassVar[SessionSource] = SessionSource(
        "compiler_gym.envs.llvm.tails.session:LlvmTailsSession"
    )
    command_line_styles: ClassVar[Mapping[str, Any]] = {}
    state_observation: ClassVar[str | None] = "FunctionStateHash"
    shown_rewards: ClassVar[tuple[str, ...] | None] = None
    uri_keys: ClassVar[tuple[str, ...] | None] = (*(LlvmEnv.uri_keys or ()), "draw", "function")

    def commandline(self) -> str:
        """Return the pipelines of the episode, which run on the function alone."""
        return self.action_space.to_string(self.actions)

    def write_bug_report(
        self, folder: str | Path, kind: Literal["crash", "miscompile"] = "crash"
    ) -> BugReport:
        """Raise `MinimizationError`: ``opt``, which a report uses, cannot choose a function."""
        raise MinimizationError(
            "a bug report needs passes of opt, which cannot run on one function alone; use "
            "`commandline()` and the program's bitcode"
        )

    def _choose_part(self, program: Benchmark, *, is_again: bool) -> Benchmark:
        params = program.uri.params
        if "function" in params or ("draw" in params and not is_again):
            return program
        draw = str(self.np_random.integers(2**31))
        return program.with_uri(replace(program.uri, params={**params, "draw": (draw,)}))

    def _rewards(self) -> list[Reward]:
        return [_BestSavings("FunctionSavings", **_COST), CostReward(_COST["cost"], **_COST)]


class _BestSavings(NormalizedCostReward):
    """The improvement of the smallest size so far, as a share of the size at reset."""

    description = (
        "The improvement of the function's smallest size so far, as a share of its size at reset."
    )

    def __init__(self, name: str, **properties: Any) -> None:
        super().__init__(name, min=0, **properties)
        self.default_negates_returns = False  # the best prefix remains

    def update(
        self,
        actions: Sequence[Any],
        observations: Sequence[Any],
        observation_view: Mapping[str, Any],
    ) -> float:
        """Return the reward for the size ``observations[0]``; never negative."""
        if self.previous is None:  # the size at reset was not observed
            self.start([observation_view[self.initial]], observation_view)
        assert self.previous is not None
        return super().update(actions, [min(self.previous, observations[0])], observation_view)
