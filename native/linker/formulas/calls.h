// The advisor of LLVM's inliner that follows the rule for calls.
#pragma once

#include <llvm/IR/PassManager.h>

namespace compiler_gym::linker {

// Let the inliner ask the rule, if there is one.
void register_call_advisor(llvm::ModuleAnalysisManager&);

}  // namespace compiler_gym::linker
