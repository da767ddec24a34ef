# SPDX-License-Identifier: MIT
"""The names behind vectors of counts, and how a vector of counts is described."""

from compiler_gym.session import BoxSpec, ObservationSpaceSpec

__all__ = ["AUTOPHASE_FEATURES", "INST_COUNT_FEATURES", "MOST", "counts"]

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

MOST = 2**63 - 2
"""The upper bound of a count: Gymnasium adds one to it when it samples."""


def counts(name: str, size: int, description: str) -> ObservationSpaceSpec:
    """Return a space of `size` counts, int64."""
    return ObservationSpaceSpec(name, BoxSpec(0, MOST, (size,), "int64"), description)
