// The rules for whole functions, and the pass that applies those for frame pointers and outlining.
#pragma once

#include <llvm/ADT/SmallVector.h>

namespace llvm {
class Function;
class ModulePass;
}  // namespace llvm

namespace compiler_gym::linker {

// FUNCTION_INPUTS of inputs.h, in order.
llvm::SmallVector<double, 20> compute_inputs(const llvm::Function&);

// Must run before the first pass of the code generator.
llvm::ModulePass* create_functions_pass();

}  // namespace compiler_gym::linker
