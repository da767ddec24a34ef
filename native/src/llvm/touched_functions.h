// The functions that a run of passes may have changed.
#pragma once

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Function.h"

namespace compiler_gym::llvm {

// A pass that runs on one function changes the code and the attributes of no other.
struct TouchedFunctions {
  bool all = false;
  ::llvm::DenseSet<const ::llvm::Function*> some;

  bool contains(const ::llvm::Function& function) const { return all || some.contains(&function); }
};

}  // namespace compiler_gym::llvm
