# SPDX-License-Identifier: MIT
"""Observations of a program's structure: graphs, tokens, functions, calls, loops, vectors.

Tables of spaces, and the names of what their columns hold. Every value is made of columns
that the engine fills and that travel as raw bytes.
"""

from collections.abc import Mapping
from typing import Any

from compiler_gym.envs.llvm.observations import ir2vec
from compiler_gym.envs.llvm.observations.names import INST_COUNT_FEATURES, MOST, counts
from compiler_gym.session import (
    BoxSpec,
    DictSpec,
    ObservationSpaceSpec,
    OpaqueSpec,
    ScalarSpec,
    SpaceSequenceSpec,
    SpaceSpec,
    TextSpec,
)

__all__ = [
    "EDGE_KINDS",
    "FUNCTION_FEATURES",
    "NODE_KINDS",
    "PROGRAML_TEXTS",
    "STRUCTURE_SPACES",
    "TOKEN_CATEGORIES",
    "TOKEN_KINDS",
]

NODE_KINDS = ("instruction", "variable", "constant", "type")
EDGE_KINDS = ("control", "data", "call", "type")

_OPCODES = tuple(
    """ret br switch indirectbr invoke resume unreachable cleanupret catchret catchswitch callbr
    fneg add fadd sub fsub mul fmul udiv sdiv fdiv urem srem frem shl lshr ashr and or xor alloca
    load store getelementptr fence cmpxchg atomicrmw trunc zext sext fptoui fptosi uitofp sitofp
    fptrunc fpext ptrtoint ptrtoaddr inttoptr bitcast addrspacecast cleanuppad catchpad icmp fcmp
    phi call select userop1 userop2 va_arg extractelement insertelement
    shufflevector extractvalue insertvalue landingpad freeze""".split()
)
PROGRAML_TEXTS = (
    *("[external]", "; undefined function", "var", "val"),
    *_OPCODES,
    *"half bfloat float double x86_fp80 fp128 ppc_fp128 void label metadata x86_amx".split(),
    *("token", "iN", "function", "ptr", "struct", "array", "vector", "scalable vector"),
    *("typed ptr", "target type", "i1", "i8", "i16", "i32", "i64", "i128"),
)
"""What ``node_text`` of ``ProgramlArrays`` is an index into, the same for every program."""

TOKEN_CATEGORIES = (
    *("punctuation", "keyword", "instruction", "type", "attribute", "number", "string"),
    *("local", "global", "label", "metadata", "attribute group", "comdat", "other"),
)
"""What ``token_category`` of ``LexedIrArrays`` is an index into."""

TOKEN_KINDS = {
    **dict(
        enumerate(
            """Eof Error dotdotdot equal comma star lsquare rsquare lbrace rbrace less greater
            lparen rparen exclaim bar colon hash""".split()
        )
    ),
    **dict(
        enumerate(
            """LabelID GlobalID LocalVarID AttrGrpID SummaryID LabelStr GlobalVar ComdatVar LocalVar
            MetadataVar StringConstant DwarfTag DwarfAttEncoding DwarfVirtuality DwarfLang
            DwarfSourceLangName DwarfCC EmissionKind NameTableKind FixedPointKind DwarfOp DIFlag
            DISPFlag DwarfMacinfo ChecksumKind DbgRecordType DwarfEnumKind Type APFloat
            APSInt""".split(),
            514,
        )
    ),
}
"""The names of those kinds of token in LLVM 22 that are not keywords."""

FUNCTION_FEATURES = (
    *INST_COUNT_FEATURES[3:],
    *"""Instructions Blocks Edges CyclomaticComplexity Arguments Loops MaxLoopDepth
    InstructionsInLoops Calls IndirectCalls IntrinsicCalls MemoryInstructions VectorInstructions
    FloatInstructions AllocaInstructions IsExternallyVisible IsVarArg""".split(),
    *(
        f"Properties.{name}"
        for name in """BasicBlockCount BlocksReachedFromConditionalInstruction Uses
    DirectCallsToDefinedFunctions LoadInstCount StoreInstCount MaxLoopDepth TopLevelLoopCount
    TotalInstructionCount BasicBlocksWithSingleSuccessor BasicBlocksWithTwoSuccessors
    BasicBlocksWithMoreThanTwoSuccessors BasicBlocksWithSinglePredecessor
    BasicBlocksWithTwoPredecessors BasicBlocksWithMoreThanTwoPredecessors BigBasicBlocks
    MediumBasicBlocks SmallBasicBlocks CastInstructionCount FloatingPointInstructionCount
    IntegerInstructionCount ConstantIntOperandCount ConstantFPOperandCount ConstantOperandCount
    InstructionOperandCount BasicBlockOperandCount GlobalValueOperandCount InlineAsmOperandCount
    ArgumentOperandCount UnknownOperandCount CriticalEdgeCount ControlFlowEdgeCount
    UnconditionalBranchCount ConditionalBranchCount BranchInstructionCount BranchSuccessorCount
    SwitchInstructionCount SwitchSuccessorCount IntrinsicCount DirectCallCount IndirectCallCount
    CallReturnsIntegerCount CallReturnsFloatCount CallReturnsPointerCount
    CallReturnsVectorIntCount CallReturnsVectorFloatCount CallReturnsVectorPointerCount
    CallWithManyArgumentsCount CallWithPointerArgumentCount""".split()
    ),
)
"""The columns of ``FunctionFeatures``: instructions by opcode, our own counts, LLVM's
FunctionProperties."""

_NAMES = SpaceSequenceSpec(TextSpec())
_INDEX = BoxSpec(-1, 2**31 - 1, (-1,), "int32")
_COUNT = BoxSpec(0, MOST, (-1,), "int64")
_FLAG = BoxSpec(0, 1, (-1,), "int8")
_REALS = BoxSpec(float("-inf"), float("inf"), (ir2vec.dimension(),), "float64")
_ROWS = BoxSpec(float("-inf"), float("inf"), (-1, ir2vec.dimension()), "float64")
_REMARK = ("kind", "pass", "name", "function", "message")


def _columns(spec: BoxSpec, *names: str) -> dict[str, BoxSpec]:
    return dict.fromkeys(names, spec)


def _kinds(names: tuple[str, ...]) -> BoxSpec:
    return BoxSpec(0, len(names) - 1, (-1,), "int32")


def _tables(
    name: str, items: Mapping[str, SpaceSpec], description: str, default: dict[str, Any]
) -> ObservationSpaceSpec:
    return ObservationSpaceSpec(name, DictSpec(dict(items)), description, default=default)


_GRAPH = {
    "node_kind": _kinds(NODE_KINDS),
    "node_text": _kinds(PROGRAML_TEXTS),
    **_columns(_INDEX, "node_function", "node_block", "edge_source", "edge_target"),
    "edge_kind": _kinds(EDGE_KINDS),
    "edge_position": _INDEX,
}
_TOKENS = {
    "token_id": _INDEX,
    "token_category": BoxSpec(0, len(TOKEN_CATEGORIES) - 1, (-1,), "int8"),
    **_columns(_INDEX, "token_start", "token_end"),
    "text": BoxSpec(0, 255, (-1,), "uint8"),
}
_WORDS = {
    "token_word": _INDEX,
    "word_id": _INDEX,
    "word_category": _TOKENS["token_category"],
    "word_end": _INDEX,
    "text": _TOKENS["text"],
}
_CALLS = {
    "names": _NAMES,
    "is_defined": _FLAG,
    "instructions": _COUNT,
    **_columns(_INDEX, "indirect_calls", "caller", "callee", "calls"),
}
_LOOPS = {
    **_columns(_INDEX, "function", "parent", "depth", "header", "blocks"),
    "instructions": _COUNT,
    **_columns(_INDEX, "exits", "latches"),
    "trip_count": _COUNT,
    **_columns(_FLAG, "is_simplified", "is_rotated"),
}

STRUCTURE_SPACES: tuple[ObservationSpaceSpec, ...] = (
    ObservationSpaceSpec(
        "ProgramlJson",
        OpaqueSpec("json"),
        "The ProGraML graph (Cummins et al., 2021) in node-link form: nodes with block, function, "
        "text, type and features.full_text; links with flow and position.",
        default='{"directed":true,"multigraph":true,"graph":{"function":[],"module":[]},'
        '"nodes":[],"links":[]}',
    ),
    _tables(
        "ProgramlArrays",
        _GRAPH,
        "The ProGraML graph as arrays of int32, one entry per node and per edge: `node_kind` "
        "(0 instruction, 1 variable, 2 constant, 3 type), `node_text` (an index into "
        "PROGRAML_TEXTS), `node_function`, `node_block` (-1: none), `edge_source`, `edge_target`, "
        "`edge_kind` (0 control, 1 data, 2 call, 3 type), `edge_position`.",
        dict.fromkeys(_GRAPH, b""),
    ),
    _tables(
        "LexedIrArrays",
        _TOKENS,
        "The IR text in the tokens of LLVM's lexer: `token_id` int32 (its kind in LLVM 22), "
        "`token_category` int8 (an index into TOKEN_CATEGORIES), `token_start` and `token_end` "
        "int32 (bytes of `text`), `text` uint8.",
        dict.fromkeys(_TOKENS, b""),
    ),
    _tables(
        "LexedIrWords",
        _WORDS,
        "The IR text as numbers of its different tokens, in the order they first occur: "
        "`token_word` int32 for each token, and for each different one `word_id` int32, "
        "`word_category` int8 (as in LexedIrArrays), `word_end` int32 (one past its last byte in "
        "`text`, where they follow one another).",
        dict.fromkeys(_WORDS, b""),
    ),
    _tables(
        "FunctionFeatures",
        {"names": _NAMES, "features": BoxSpec(0, MOST, (-1, len(FUNCTION_FEATURES)), "int64")},
        f"One row of {len(FUNCTION_FEATURES)} counts (int64; FUNCTION_FEATURES) for each function "
        "that has a body, and its name.",
        {"names": [], "features": b""},
    ),
    _tables(
        "CallGraph",
        _CALLS,
        "Functions (`names`, `is_defined`, `instructions`, `indirect_calls`) and calls between "
        "them (`caller`, `callee`, `calls`: how many), as arrays.",
        {**dict.fromkeys(_CALLS, b""), "names": []},
    ),
    _tables(
        "LoopForest",
        _LOOPS,
        "Natural loops, outer before inner, as arrays: `function`, `parent` (-1 at the top), "
        "`depth`, `header` (its block), sizes, `exits`, `latches`, `trip_count` (0: not known), "
        "`is_simplified`, `is_rotated`.",
        dict.fromkeys(_LOOPS, b""),
    ),
    ObservationSpaceSpec(
        "Inst2vecPreprocessedText",
        _NAMES,
        "The statements of inst2vec (Ben-Nun et al., 2018), one for each global, function, block "
        "and instruction, with names and immediate values left out and the types of pointers "
        "guessed from their uses.",
        default=[],
    ),
    *(
        spec
        for name, kind in (("IR2Vec", "symbolic"), ("IR2VecFlowAware", "flow-aware"))
        for spec in (
            ObservationSpaceSpec(
                name,
                _REALS,
                f"LLVM's IR2Vec (VenkataKeerthy et al., 2020), {kind}, of the program: the sum of "
                f"its functions, float64[{ir2vec.dimension()}].",
                default=bytes(8 * ir2vec.dimension()),
            ),
            _tables(
                f"{name}Functions",
                {"names": _NAMES, "vectors": _ROWS},
                f"LLVM's IR2Vec, {kind}: a row of float64[{ir2vec.dimension()}] for each function "
                "that has a body, and its name.",
                {"names": [], "vectors": b""},
            ),
        )
    ),
    ObservationSpaceSpec(
        "PassStatistics",
        DictSpec(
            {
                "changed": ScalarSpec(dtype="bool"),
                "added": counts("", len(INST_COUNT_FEATURES), "").space,
                "removed": counts("", len(INST_COUNT_FEATURES), "").space,
                **dict.fromkeys(("changed_functions", "new_functions", "lost_functions"), _NAMES),
                "remarks": SpaceSequenceSpec(DictSpec(dict.fromkeys(_REMARK, TextSpec()))),
            }
        ),
        "What the last action did: instructions, blocks and functions `added` and `removed` (as "
        "InstCount, int64[70]), functions touched, and LLVM's optimisation remarks. Asking for it "
        "repeats the episode's actions once; later actions are recorded as they run.",
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
