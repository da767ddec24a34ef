// The advisor of LLVM's inliner, and the order of its calls, that follow the rules for calls.
#pragma once

#include <llvm/IR/PassManager.h>

namespace compiler_gym::linker {

// Make the inliner use the rules, if there are any.
void register_call_rules(llvm::ModuleAnalysisManager&);

}  // namespace compiler_gym::linker
