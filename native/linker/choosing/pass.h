// The pass that gives each function the smallest of several code generations.
#pragma once

namespace llvm {
class ModulePass;
class TargetMachine;
}  // namespace llvm

namespace compiler_gym::linker {

// Must run before the first pass of the code generator, in a pipeline that follows the settings.
llvm::ModulePass* create_choosing_pass(llvm::TargetMachine&);

}  // namespace compiler_gym::linker
