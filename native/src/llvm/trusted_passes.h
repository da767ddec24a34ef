// The reliability of a pass's report on whether it preserved all analyses.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace compiler_gym::llvm {

struct Trust {
  // When it preserved all analyses, it changed nothing.
  bool nothing = false;
  // When it did not, it changed something.
  bool something = false;
  // The first holds only in functions without unreachable blocks.
  bool only_where_reachable = false;
};

// `pass` is the name of its class.
Trust trust_in(::llvm::StringRef pass);

}  // namespace compiler_gym::llvm
