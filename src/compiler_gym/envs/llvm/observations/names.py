# SPDX-License-Identifier: MIT
"""The names of array elements: features by index, kinds by number.

They can be read without a compiler; a test compares them with the engine.
"""

__all__ = [
    "AUTOPHASE_FEATURES",
    "EDGE_KINDS",
    "FUNCTION_FEATURES",
    "INST_COUNT_FEATURES",
    "NODE_KINDS",
    "PROGRAML_TEXTS",
    "TOKEN_CATEGORIES",
    "TOKEN_KINDS",
]

AUTOPHASE_FEATURES = tuple(
    """BBNumArgsHi BBNumArgsLo onePred onePredOneSuc onePredTwoSuc oneSuccessor twoPred
    twoPredOneSuc twoEach twoSuccessor morePreds BB03Phi BBHiPhi BBNoPhi BeginPhi BranchCount
    returnInt CriticalCount NumEdges const32Bit const64Bit numConstZeroes numConstOnes
    UncondBranches binaryConstArg NumAShrInst NumAddInst NumAllocaInst NumAndInst BlockMid
    BlockLow NumBitCastInst NumBrInst NumCallInst NumGetElementPtrInst NumICmpInst NumLShrInst
    NumLoadInst NumMulInst NumOrInst NumPHIInst NumRetInst NumSExtInst NumSelectInst NumShlInst
    NumStoreInst NumSubInst NumTruncInst NumXorInst NumZExtInst TotalBlocks TotalInsts
    TotalMemInst TotalFuncs ArgsPhi testUnary""".split()
)
"""The 56 features of the AutoPhase paper (Huang et al., 2019), in its order."""

INST_COUNT_FEATURES = tuple(
    """TotalInstsCount TotalBlocksCount TotalFuncsCount RetCount BrCount SwitchCount
    IndirectBrCount InvokeCount ResumeCount UnreachableCount CleanupRetCount CatchRetCount
    CatchSwitchCount CallBrCount FNegCount AddCount FAddCount SubCount FSubCount MulCount
    FMulCount UDivCount SDivCount FDivCount URemCount SRemCount FRemCount ShlCount LShrCount
    AShrCount AndCount OrCount XorCount AllocaCount LoadCount StoreCount GetElementPtrCount
    FenceCount AtomicCmpXchgCount AtomicRMWCount TruncCount ZExtCount SExtCount FPToUICount
    FPToSICount UIToFPCount SIToFPCount FPTruncCount FPExtCount PtrToIntCount IntToPtrCount
    BitCastCount AddrSpaceCastCount CleanupPadCount CatchPadCount ICmpCount FCmpCount PHICount
    CallCount SelectCount UserOp1Count UserOp2Count VAArgCount ExtractElementCount
    InsertElementCount ShuffleVectorCount ExtractValueCount InsertValueCount LandingPadCount
    FreezeCount""".split()
)
"""The totals, then one count per opcode in the order of LLVM's ``Instruction.def``."""

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
"""The texts that ``node_text`` of ``ProgramlArrays`` indexes, the same for every program."""

TOKEN_CATEGORIES = (
    *("punctuation", "keyword", "instruction", "type", "attribute", "number", "string"),
    *("local", "global", "label", "metadata", "attribute group", "comdat", "other"),
)
"""The categories that ``token_category`` of ``LexedIrArrays`` indexes."""

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
"""The names of this LLVM's token kinds that are not keywords."""

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
"""The columns of ``FunctionFeatures``: instructions by opcode, our own counts, and LLVM's
FunctionProperties."""
