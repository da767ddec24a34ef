# SPDX-License-Identifier: MIT
"""The observations of the current call and of the module."""

import numpy as np
from numpy.typing import NDArray

from compiler_gym.core import DerivedObservation
from compiler_gym.envs.llvm.observations import COUNT, MOST, ROWS
from compiler_gym.session import BoxSpec, DictSpec, ScalarSpec, SequenceSpec, TextSpec
from compiler_gym.spaces import Dict, Scalar
from compiler_gym.tables import Observation, Table

__all__ = ["INLINE_FEATURES", "INLINE_TABLE", "OWN", "feature_dictionary"]

INLINE_FEATURES = tuple(
    """sroa_savings sroa_losses load_elimination call_penalty call_argument_setup
    load_relative_intrinsic lowered_call_arg_setup indirect_call_penalty jump_table_penalty
    case_cluster_penalty switch_default_dest_penalty switch_penalty
    unsimplified_common_instructions num_loops dead_blocks simplified_instructions constant_args
    constant_offset_ptr_args callsite_cost cold_cc_penalty last_call_to_static_bonus
    is_multiple_blocks nested_inlines nested_inline_cost_estimate threshold
    callee_basic_block_count callsite_height node_count nr_ctant_params cost_estimate edge_count
    caller_users caller_conditionally_executed_blocks caller_basic_block_count
    callee_conditionally_executed_blocks callee_users is_callee_avail_external
    is_caller_avail_external inlining_default""".split()
)
"""LLVM's features for a learned inliner (MLGO): 38 in its order, then its own choice."""

_NUMBER_COLUMNS = (
    *("number", "block", "instruction", "arguments", "caller_blocks", "caller_instructions"),
    *("callee_blocks", "callee_instructions", "callee_calls"),
)
_FLAGS = ("is_callee_local", "is_in_loop")
_TEXT_COLUMNS = ("caller", "callee", "location")

OWN = (
    Observation(
        name="InlineFeatures",
        space=BoxSpec(-MOST, MOST, (len(INLINE_FEATURES),), "int64"),
        description="LLVM's features of the call for a learned inliner (MLGO); the last is 1 "
        "if its own inliner would inline: int64[39]; zeros after the end of the pipeline.",
        compute="features",
        default=bytes(8 * len(INLINE_FEATURES)),
    ),
    Observation(
        name="CallSite",
        space=DictSpec(
            {
                **dict.fromkeys(_TEXT_COLUMNS, TextSpec()),
                **dict.fromkeys(_NUMBER_COLUMNS, COUNT),
                **dict.fromkeys(_FLAGS, ScalarSpec(0, 1, "bool")),
            }
        ),
        description="The call to decide: the functions `caller` and `callee`; the `block` in the "
        "caller and the `instruction` in the block; its `location` in the source, if the program "
        "has debug information; the `number` of calls before it; sizes, and the number of calls "
        "of the callee in the module. Empty names after the end of the pipeline.",
        compute="call_site",
        default={
            **dict.fromkeys(_TEXT_COLUMNS, ""),
            **dict.fromkeys(_NUMBER_COLUMNS, 0),
            **dict.fromkeys(_FLAGS, False),
        },
    ),
    Observation(
        name="InlineDecisions",
        space=SequenceSpec("str"),
        description="All decisions so far, including LLVM's own: `i` for inline and `n` for not.",
        compute="decisions",
        default="",
    ),
    Observation(
        name="InlineStateHash",
        space=SequenceSpec("str", 32, 32),
        description="32 hexadecimal digits that are equal if the program, its goal and all "
        "decisions are equal.",
        compute="state_hash",
        default=" " * 32,
    ),
)
"""The observations that ``llvm-v0`` does not have."""

_OF_PASSES = ("pass_statistics",)

INLINE_TABLE = Table(
    (
        *OWN,
        *(row for row in ROWS if not isinstance(row, Observation) or row.compute not in _OF_PASSES),
    )
)
"""All observations, with the baselines of the costs."""


def feature_dictionary() -> DerivedObservation:
    """Return ``InlineFeaturesDict``, the features by name."""

    def make_space() -> Dict:
        return Dict(
            {name: Scalar(name, None, None, dtype=int) for name in INLINE_FEATURES},
            name="InlineFeaturesDict",
        )

    def by_name(values: NDArray[np.int64]) -> dict[str, int]:
        return dict(zip(INLINE_FEATURES, values.tolist(), strict=True))

    return DerivedObservation(
        "InlineFeaturesDict",
        "InlineFeatures",
        by_name,
        make_space,
        f"InlineFeatures by name: a dictionary of {len(INLINE_FEATURES)} numbers.",
    )
