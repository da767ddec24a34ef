// The pass `codegen<option=value;...>`, which writes choices for the code generator into a module.
#pragma once

#include "llvm/Passes/PassBuilder.h"

namespace compiler_gym::llvm {

// Let pipelines that `builder` parses name the pass.
void register_codegen_pass(::llvm::PassBuilder& builder);

}  // namespace compiler_gym::llvm
