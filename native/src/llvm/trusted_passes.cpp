#include "trusted_passes.h"

#include "llvm/ADT/StringSet.h"

namespace compiler_gym::llvm {

bool is_trusted(::llvm::StringRef pass) {
  static const ::llvm::StringSet<> liars{
      "ArgumentPromotionPass", "InferAlignmentPass", "SCCPPass", "IndVarSimplifyPass",
      "IPSCCPPass", "LoopVectorizePass", "AttributorLightCGSCCPass", "CalledValuePropagationPass",
      "IRCEPass", "IROutlinerPass",
  };
  return !liars.contains(pass);
}

}  // namespace compiler_gym::llvm
