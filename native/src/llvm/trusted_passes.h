// The reliability of a pass's report on whether it preserved all analyses.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace compiler_gym::llvm {

struct Trust {
  // Where it preserved all analyses it changed nothing.
  bool nothing = false;
  // Where it did not, it changed something.
  bool something = false;
  // The first holds only in functions of which every block can be reached.
  bool only_where_reachable = false;
};

// `pass` is the name of its class.
Trust trust_in(::llvm::StringRef pass);

}  // namespace compiler_gym::llvm
