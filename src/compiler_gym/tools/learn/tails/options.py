# SPDX-License-Identifier: MIT
"""The parameters of a run that learns tails, without NumPy, so that `--help` is quick."""

from dataclasses import dataclass
from enum import StrEnum

from compiler_gym.options import WHOLE_ABOVE_0, WHOLE_FROM_0, check, option

__all__ = ["TailGoal", "TailOptions"]


class TailGoal(StrEnum):
    """The unit of what tails save."""

    INSTRUCTIONS = "instructions"
    """Instructions of LLVM IR."""
    BYTES = "bytes"
    """Bytes of x86-64 machine code, unwind entries and tables."""


@dataclass(frozen=True, slots=True)
class TailOptions:
    """The parameters of a run."""

    per_package: int = option(10, "Modules of each package.", WHOLE_ABOVE_0)
    most_bytes: int = option(400_000, "Skip modules with more bytes.", WHOLE_ABOVE_0)
    mined: int = option(1_500, "Instructions of each package to search.", WHOLE_ABOVE_0)
    goal: TailGoal = option(
        TailGoal.INSTRUCTIONS, "Unit of savings: instructions or bytes", may_change=True
    )
    tails: int = option(64, "Tails to choose.", WHOLE_ABOVE_0)
    seed: int = option(0, "Seed of the search and the model.", WHOLE_FROM_0)
    jobs: int = option(2, "Processes.", WHOLE_ABOVE_0, may_change=True)
    ray: bool = option(False, "Make the calls tasks of a Ray cluster", may_change=True)

    def __post_init__(self) -> None:
        check(self)
