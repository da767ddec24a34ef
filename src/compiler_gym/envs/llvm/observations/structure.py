# SPDX-License-Identifier: MIT
"""Rows of a program's structure: graphs, tokens, functions, calls, loops, vectors.

A row without a space is a table whose columns the engine describes; they are sent as raw bytes.
"""

from compiler_gym.envs.llvm.observations import ir2vec
from compiler_gym.envs.llvm.observations.names import FUNCTION_FEATURES, INST_COUNT_FEATURES
from compiler_gym.envs.llvm.observations.shapes import counts
from compiler_gym.session import (
    BoxSpec,
    DictSpec,
    OpaqueSpec,
    ScalarSpec,
    SpaceSequenceSpec,
    TextSpec,
)
from compiler_gym.tables import Observation

__all__ = ["STRUCTURE"]

_NAMES = SpaceSequenceSpec(TextSpec())
_REALS = BoxSpec(float("-inf"), float("inf"), (ir2vec.dimension(),), "float64")
_VECTOR_ROWS = BoxSpec(float("-inf"), float("inf"), (-1, ir2vec.dimension()), "float64")
_OPCODES = counts(len(INST_COUNT_FEATURES))
_REMARK = ("kind", "pass", "name", "function", "message")


def _table(name: str, compute: str, description: str) -> Observation:
    return Observation(name=name, space=None, description=description, compute=compute)


STRUCTURE: tuple[Observation, ...] = (
    Observation(
        name="ProgramlJson",
        space=OpaqueSpec("json"),
        description="The ProGraML graph (Cummins et al., 2021) in node-link form: nodes with "
        "block, function, text, type and features.full_text; links with flow and position.",
        compute="program_graph_json",
        default='{"directed":true,"multigraph":true,"graph":{"function":[],"module":[]},'
        '"nodes":[],"links":[]}',
    ),
    _table(
        "ProgramlArrays",
        "program_graph",
        "The ProGraML graph as arrays of int32, one entry per node and per edge: `node_kind` "
        "(0 instruction, 1 variable, 2 constant, 3 type), `node_text` (an index into "
        "PROGRAML_TEXTS), `node_function`, `node_block` (-1: none), `edge_source`, `edge_target`, "
        "`edge_kind` (0 control, 1 data, 2 call, 3 type), `edge_position`.",
    ),
    _table(
        "LexedIrArrays",
        "lexed_ir",
        "The IR text as tokens of LLVM's lexer: `token_id` int32 (the kind in this LLVM), "
        "`token_category` int8 (an index into TOKEN_CATEGORIES), `token_start` and `token_end` "
        "int32 (bytes of `text`), `text` uint8.",
    ),
    _table(
        "LexedIrWords",
        "lexed_words",
        "The IR text as indices of its distinct tokens, in order of first occurrence: "
        "`token_word` int32 for each token, and for each distinct token `word_id` int32, "
        "`word_category` int8 (as in LexedIrArrays) and `word_end` int32 (one past its last byte "
        "in `text`, where the tokens are concatenated).",
    ),
    _table(
        "FunctionFeatures",
        "function_table",
        f"For each function with a body, its name and a row of {len(FUNCTION_FEATURES)} counts "
        "(int64; FUNCTION_FEATURES).",
    ),
    _table(
        "FunctionShapes",
        "function_shapes",
        "Functions with a body, as arrays: `names`, `shapes` (a hash that ignores names and "
        "constants, so near-duplicates share it), `instructions`, `is_odr` (inline functions and "
        "templates).",
    ),
    _table(
        "CallGraph",
        "call_graph",
        "Functions (`names`, `is_defined`, `instructions`, `indirect_calls`) and the calls between "
        "them (`caller`, `callee`, `calls`: the number of calls), as arrays.",
    ),
    _table(
        "LoopForest",
        "loop_forest",
        "Natural loops, outer before inner, as arrays: `function`, `parent` (-1 at the top), "
        "`depth`, `header` (a block), sizes, `exits`, `latches`, `trip_count` (0: unknown), "
        "`is_simplified`, `is_rotated`.",
    ),
    _table(
        "CallSites",
        "call_sites",
        "Calls of functions with a body, as arrays: `id` (-1 outside the action space Marks), "
        "`caller` and `callee` (indices into `names`), `copies`, `choice`, `is_inlinable`, sizes.",
    ),
    _table(
        "Loops",
        "marked_loops",
        "Loops as decision points, as arrays: `id` (-1 outside the action space Marks, and for "
        "loops without one), `function` (an index into `names`), `header`, `depth`, sizes, "
        "`trip_count`, "
        "`choices` (bits), `is_peelable`.",
    ),
    _table(
        "Functions",
        "marked_functions",
        "Functions with a body as decision points, as arrays: `names`, `id` (-1 outside the action "
        "space Marks), `choice`, `allowed` (bits), `is_local`, sizes, `calls`, `callers`.",
    ),
    Observation(
        name="Inst2vecPreprocessedText",
        space=_NAMES,
        description="The statements of inst2vec (Ben-Nun et al., 2018), one for each global, "
        "function, block and instruction, without names and immediate values and with the types "
        "of pointers inferred from their uses.",
        compute="inst2vec_statements",
        default=[],
    ),
    *(
        row
        for name, kind, compute in (
            ("IR2Vec", "symbolic", "ir2vec.symbolic"),
            ("IR2VecFlowAware", "flow-aware", "ir2vec.flow_aware"),
        )
        for row in (
            Observation(
                name=name,
                space=_REALS,
                description=f"LLVM's IR2Vec (VenkataKeerthy et al., 2020), {kind}, for the whole "
                f"program: the sum over its functions, float64[{ir2vec.dimension()}].",
                compute=compute,
                default=bytes(8 * ir2vec.dimension()),
            ),
            Observation(
                name=f"{name}Functions",
                space=DictSpec({"names": _NAMES, "vectors": _VECTOR_ROWS}),
                description=f"LLVM's IR2Vec, {kind}: for each function with a body, its name and a "
                f"row of float64[{ir2vec.dimension()}].",
                compute=f"{compute}_functions",
                default={"names": [], "vectors": b""},
            ),
        )
    ),
    Observation(
        name="PassStatistics",
        space=DictSpec(
            {
                "changed": ScalarSpec(dtype="bool"),
                "added": _OPCODES,
                "removed": _OPCODES,
                **dict.fromkeys(("changed_functions", "new_functions", "lost_functions"), _NAMES),
                "remarks": SpaceSequenceSpec(DictSpec(dict.fromkeys(_REMARK, TextSpec()))),
            }
        ),
        description="The effects of the last action: instructions, blocks and functions `added` "
        "and `removed` (like InstCount, int64[70]), functions changed, and LLVM's optimisation "
        "remarks. The first request repeats the episode's actions; later ones are recorded as they "
        "run.",
        compute="pass_statistics",
        deterministic=False,
        default={
            "changed": False,
            **dict.fromkeys(("added", "removed"), bytes(8 * len(INST_COUNT_FEATURES))),
            "changed_functions": [],
            "new_functions": [],
            "lost_functions": [],
            "remarks": [],
        },
    ),
)
