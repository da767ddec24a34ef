// Which passes change nothing when they say that they preserved all analyses.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace compiler_gym::llvm {

// `pass` is the name of its class.
bool is_trusted(::llvm::StringRef pass);

}  // namespace compiler_gym::llvm
