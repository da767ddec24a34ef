// The machine pass that applies the rules to functions that should be small.
#pragma once

namespace llvm {
class FunctionPass;
}

namespace compiler_gym::linker {

llvm::FunctionPass* create_encodings_pass();

}  // namespace compiler_gym::linker
