// The passes and analyses that loaded plug-ins add to a PassBuilder.
#pragma once

#include "llvm/Passes/PassBuilder.h"

namespace compiler_gym::llvm {

void add_plugin_passes(::llvm::PassBuilder& builder);

}  // namespace compiler_gym::llvm
