// The module pass that lets functions share the code that sets up and tears down their frames.
#pragma once

namespace llvm {
class ModulePass;
}

namespace compiler_gym::linker {

llvm::ModulePass* create_share_frames_pass();

}  // namespace compiler_gym::linker
