# SPDX-License-Identifier: MIT
"""The observations of the chosen function; those of the module come from ``llvm-v0``."""

from compiler_gym.envs.llvm.observations import COUNT, ROWS
from compiler_gym.envs.llvm.observations.names import FUNCTION_FEATURES
from compiler_gym.envs.llvm.observations.shapes import counts
from compiler_gym.session import SequenceSpec
from compiler_gym.tables import Observation, Table

__all__ = ["OWN", "TAILS_TABLE"]

OWN = (
    Observation(
        name="FunctionCounts",
        space=counts(len(FUNCTION_FEATURES)),
        description=f"The row of FunctionFeatures for the function: int64[{len(FUNCTION_FEATURES)}]"
        " (FUNCTION_FEATURES).",
        compute="function_counts",
    ),
    Observation(
        name="FunctionInstructionCount",
        space=COUNT,
        description="The number of IR instructions of the function.",
        compute="function_instructions",
        default=0,
    ),
    Observation(
        name="FunctionInstructionCountInitial",
        space=COUNT,
        description="The number of IR instructions of the function at reset, after clang's level.",
        compute="function_instructions_at_reset",
        default=0,
    ),
    Observation(
        name="FunctionName",
        space=SequenceSpec("str"),
        description="The name of the function.",
        compute="function_name",
        default="",
    ),
    Observation(
        name="FunctionStateHash",
        space=SequenceSpec("str", 32, 32),
        description="32 hexadecimal digits that are equal if the module and the function are.",
        compute="function_state_hash",
        default=" " * 32,
    ),
)
"""The observations that ``llvm-v0`` does not have."""

_OF_PASSES = ("pass_statistics",)

TAILS_TABLE = Table(
    (
        *OWN,
        *(row for row in ROWS if not isinstance(row, Observation) or row.compute not in _OF_PASSES),
    )
)
"""All observations, with the baselines of the costs."""
