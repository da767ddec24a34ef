#include "trusted_passes.h"

#include "llvm/ADT/StringSet.h"

// Measured by `python -m scripts.trust`, which hashes the whole IR after every visit of a pass: on
// random states of the bundled programs and of single functions from them, with all passes of
// PassesAll. A pass that was not visited there is in no list; one wrong report excludes a pass.

namespace compiler_gym::llvm {
namespace {

const ::llvm::StringSet<>& never_caught() {
  static const ::llvm::StringSet<> passes{
      "ADCEPass",
      "AggressiveInstCombinePass",
      "AlignmentFromAssumptionsPass",
      "AlwaysInlinerPass",
      "BDCEPass",
      "BreakCriticalEdgesPass",
      "CallSiteSplittingPass",
      "CanonicalizeFreezeInLoopsPass",
      "ConstantHoistingPass",
      "ConstantMergePass",
      "ConstraintEliminationPass",
      "DCEPass",
      "DFAJumpThreadingPass",
      "DSEPass",
      "DivRemPairsPass",
      "DropUnnecessaryAssumesPass",
      "EarlyCSEPass",
      "EliminateAvailableExternallyPass",
      "FlattenCFGPass",
      "Float2IntPass",
      "GVNHoistPass",
      "GVNSinkPass",
      "GlobalDCEPass",
      "GlobalOptPass",
      "HotColdSplittingPass",
      "InferFunctionAttrsPass",
      "InlinerPass",
      "InstSimplifyPass",
      "JumpThreadingPass",
      "LICMPass",
      "LNICMPass",
      "LibCallsShrinkWrapPass",
      "LoadStoreVectorizerPass",
      "LoopBoundSplitPass",
      "LoopDeletionPass",
      "LoopDistributePass",
      "LoopFlattenPass",
      "LoopFullUnrollPass",
      "LoopFusePass",
      "LoopIdiomVectorizePass",
      "LoopInstSimplifyPass",
      "LoopInterchangePass",
      "LoopLoadEliminationPass",
      "LoopRotatePass",
      "LoopSimplifyCFGPass",
      "LoopSimplifyPass",
      "LoopTermFoldPass",
      "LoopUnrollAndJamPass",
      "LoopUnrollPass",
      "LoopVersioningLICMPass",
      "LoopVersioningPass",
      "LowerExpectIntrinsicPass",
      "LowerSwitchPass",
      "MemCpyOptPass",
      "MergeFunctionsPass",
      "MergeICmpsPass",
      "MergedLoadStoreMotionPass",
      "ModuleInlinerPass",
      "NaryReassociatePass",
      "PartiallyInlineLibCallsPass",
      "PromotePass",
      "RegToMemPass",
      "ReversePostOrderFunctionAttrsPass",
      "SimpleLoopUnswitchPass",
      "SimplifyCFGPass",
      "SinkingPass",
      "StraightLineStrengthReducePass",
      "StripDeadPrototypesPass",
      "TailCallElimPass",
      "UnifyFunctionExitNodesPass",
      "VectorCombinePass",
  };
  return passes;
}

// They claim to have preserved everything only if that is true, but sometimes report a change
// although the IR is unchanged, including use lists.
const ::llvm::StringSet<>& claim_too_much() {
  static const ::llvm::StringSet<> passes{
      "CorrelatedValuePropagationPass",
      "GVNPass",
      "LoopIdiomRecognizePass",
      "LoopStrengthReducePass",
      "NewGVNPass",
      "PostOrderFunctionAttrsPass",
      "ReassociatePass",
      "SLPVectorizerPass",
      "SROAPass",
      "ScalarizerPass",
      "SeparateConstOffsetFromGEPPass",
      "SpeculativeExecutionPass",
  };
  return passes;
}

// They change attributes, alignments, metadata or the order of uses without reporting it, but every
// change that they report is real.
const ::llvm::StringSet<>& conceal() {
  static const ::llvm::StringSet<> passes{
      "ArgumentPromotionPass",
      "CalledValuePropagationPass",
      "DeadArgumentEliminationPass",
      "IRCEPass",
      "IROutlinerPass",
      "IndVarSimplifyPass",
      "InferAlignmentPass",
      "InstCombinePass",
      "PartialInlinerPass",
  };
  return passes;
}

}  // namespace

Trust trust_in(::llvm::StringRef pass) {
  // It replaces uses in unreachable blocks with poison without reporting it.
  if (pass == "LCSSAPass")
    return {.nothing = true, .something = true, .only_where_reachable = true};
  const bool spotless = never_caught().contains(pass);
  return {.nothing = spotless || claim_too_much().contains(pass),
          .something = spotless || conceal().contains(pass)};
}

}  // namespace compiler_gym::llvm
