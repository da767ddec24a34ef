// The module pass that lets functions share the code that makes and ends their frames.
#pragma once

namespace llvm {
class ModulePass;
}

namespace compiler_gym::linker {

llvm::ModulePass* create_share_frames_pass();

}  // namespace compiler_gym::linker
