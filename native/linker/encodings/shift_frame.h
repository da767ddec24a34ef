// The machine pass that moves frame pointers; it runs before the offsets of variables are computed.
#pragma once

namespace llvm {
class FunctionPass;
}

namespace compiler_gym::linker {

llvm::FunctionPass* create_shift_frame_pass();

}  // namespace compiler_gym::linker
