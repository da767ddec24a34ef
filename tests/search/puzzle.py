# SPDX-License-Identifier: MIT
"""A compiler small enough to know the best answer: a cost, a door and some traps."""

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from compiler_gym.core import CompilerEnv
from compiler_gym.datasets import Benchmark
from compiler_gym.service import SessionSource
from compiler_gym.session import (
    ActionSpaceSpec,
    BenchmarkSpec,
    CompilerSession,
    NamedDiscreteSpec,
    ObservationSpec,
    ScalarSpec,
    SequenceSpec,
)
from compiler_gym.spaces import CostReward

ACTIONS = ("open", "save", "trim", "grow", "nothing", "whole", "crash", "hang")
OPEN, SAVE, TRIM, GROW, NOTHING, WHOLE, CRASH, HANG = range(len(ACTIONS))
INITIAL, AFTER_WHOLE, LEAST = 100, 80, 57
"""The cost at reset, after the action that does most at once, and at best."""


class PuzzleSession(CompilerSession):
    """``save`` needs an open door and works once; ``trim`` works three times."""

    compiler_version: ClassVar[str] = "puzzle 1"
    action_spaces: ClassVar[tuple[ActionSpaceSpec, ...]] = (
        ActionSpaceSpec("Puzzle", NamedDiscreteSpec(ACTIONS[:-2])),
        ActionSpaceSpec("Trapped", NamedDiscreteSpec(ACTIONS)),
    )
    observation_spaces: ClassVar[tuple[ObservationSpec, ...]] = (
        ObservationSpec("Cost", ScalarSpec(0, 10**6, "int"), default=0),
        ObservationSpec("IrHash", SequenceSpec("str"), default=""),
    )

    def __init__(
        self, working_dir: Path, action_space: ActionSpaceSpec, benchmark: BenchmarkSpec
    ) -> None:
        self._cost = INITIAL
        self._is_open = self._is_saved = False
        self._trims = 0

    def apply_action(self, action: Any) -> tuple[bool, ActionSpaceSpec | None, bool]:
        before = self._state()
        if action == OPEN:
            self._is_open = True
        elif action == SAVE and self._is_open and not self._is_saved:
            self._is_saved, self._cost = True, self._cost - 40
        elif action == TRIM and self._trims < 3:
            self._trims, self._cost = self._trims + 1, self._cost - 1
        elif action == GROW:
            self._cost += 5
        elif action == WHOLE and not self._is_open and self._cost > AFTER_WHOLE:
            self._cost, self._is_saved = AFTER_WHOLE, True
        elif action == CRASH:
            os.abort()
        elif action == HANG:
            time.sleep(60)
        return False, None, self._state() == before

    def get_observation(self, name: str) -> Any:
        return self._cost if name == "Cost" else repr(self._state())

    def _state(self) -> tuple[Any, ...]:
        return self._cost, self._is_open, self._is_saved, self._trims


def make_puzzle(action_space: str = "Puzzle") -> CompilerEnv:
    reward = CostReward("Cost", cost="Cost", initial="Cost", platform_dependent=False)
    return CompilerEnv(
        SessionSource("search.puzzle:PuzzleSession"),
        benchmark=Benchmark("benchmark://puzzle-v0/door", b"door"),
        rewards=[reward],
        reward_space="Cost",
        action_space=action_space,
    )


class UnevenReward(CostReward):
    """A measured saving, which no two measurements give alike: each is less than the last."""

    measured = 0

    def update(
        self,
        actions: Sequence[Any],
        observations: Sequence[Any],
        observation_view: Mapping[str, Any],
    ) -> float:
        UnevenReward.measured += 1
        reward = super().update(actions, observations, observation_view)
        return reward - 1e-6 * UnevenReward.measured if reward else 0.0


def make_uneven_puzzle() -> CompilerEnv:
    reward = UnevenReward(
        "Cost", cost="Cost", initial="Cost", platform_dependent=True, deterministic=False
    )
    return CompilerEnv(
        SessionSource("search.puzzle:PuzzleSession"),
        benchmark=Benchmark("benchmark://puzzle-v0/door", b"door"),
        rewards=[reward],
        reward_space="Cost",
        action_space="Puzzle",
    )


def make_trapped_puzzle() -> CompilerEnv:
    return make_puzzle("Trapped")
