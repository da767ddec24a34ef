// LLVM's analyses of the loops of one function. Made to be owned by a `Fragile`.
#pragma once

#include "compiler_gym/given_up.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"

namespace compiler_gym::llvm {

struct Loops {
  // Analyses take non-const functions; those used here change nothing.
  explicit Loops(const ::llvm::Function& function)
      : dominators(const_cast<::llvm::Function&>(function)), loops(dominators) {}

  ::llvm::DominatorTree dominators;
  ::llvm::LoopInfo loops;
};

// The analyses for trip counts.
struct LoopAnalyses : Loops {
  LoopAnalyses(const ::llvm::Function& function, const ::llvm::TargetLibraryInfoImpl& library)
      : Loops(function),
        assumptions(const_cast<::llvm::Function&>(function)),
        functions_known(library, &function),
        evolution(const_cast<::llvm::Function&>(function), functions_known, assumptions, dominators,
                  loops) {}

  ::llvm::AssumptionCache assumptions;
  ::llvm::TargetLibraryInfo functions_known;
  ::llvm::ScalarEvolution evolution;
};

}  // namespace compiler_gym::llvm
