#include "trusted_passes.h"

#include "llvm/ADT/StringSet.h"

namespace compiler_gym::llvm {

Trust trust_in(::llvm::StringRef pass) {
  static const ::llvm::StringSet<> liars{
      "ArgumentPromotionPass", "InferAlignmentPass", "SCCPPass", "IndVarSimplifyPass",
      "IPSCCPPass", "LoopVectorizePass", "AttributorLightCGSCCPass", "CalledValuePropagationPass",
      "IRCEPass", "IROutlinerPass",
  };
  return {!liars.contains(pass), false};
}

}  // namespace compiler_gym::llvm
