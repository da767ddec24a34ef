# SPDX-License-Identifier: MIT
"""What users hold: the environment."""

from typing import Any, ClassVar

from compiler_gym.core import CompilerEnv, CompilerEnvState
from compiler_gym.service import SessionSource
from compiler_gym.validation import ValidationResult
from stack_language.datasets import make_datasets
from stack_language.rewards import make_rewards
from stack_language.validation import validate

__all__ = ["StackEnv"]

SOURCE = SessionSource("stack_language.session:StackSession")


class StackEnv(CompilerEnv):
    """Shorten a program of a toy stack language with peephole rules.

    - Actions: ``Rules`` (default) applies a rule everywhere, ``Schedule`` all of
      them in an order, ``Sites`` one at one place.
    - Observations: ``Text``, ``Opcodes``, ``Size``, ``Cycles``, each also at reset.
    - Rewards: ``Size``, ``Cycles`` and their shares ``SizeNorm``, ``CyclesNorm``.
    - End: after a ``Schedule``, and when ``Sites`` has no place left.
    """

    default_benchmark: ClassVar[str | None] = "benchmark://stack-v0/polynomial"
    state_observation: ClassVar[str | None] = "Text"

    def __init__(self, **options: Any) -> None:
        super().__init__(SOURCE, rewards=make_rewards(), datasets=make_datasets(), **options)

    def validate(self, state: CompilerEnvState | None = None) -> ValidationResult:
        """Replay `state` (default: the current one), run the program and compare."""
        return validate(self.state if state is None else state, StackEnv)
