// The facts about functions and the call graph that LLVM's learned inliner uses while it inlines.
//
// The numbers are those of LLVM's MLInlineAdvisor, and equally outdated: some are computed once for
// a component of the call graph, although inlining changes them. A test compares them with those
// that opt sends to a model.
#pragma once

#include <cstdint>
#include <map>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LazyCallGraph.h"
#include "llvm/IR/PassManager.h"

namespace compiler_gym::llvm {

// Counts over the blocks that the entry may reach.
struct FunctionFacts {
  std::int64_t blocks = 0;
  std::int64_t conditional_blocks = 0;  // successors of conditional branches and of switches
  std::int64_t local_calls = 0;         // direct calls of functions that have a body
  std::int64_t instructions = 0;
  std::int64_t uses = 0;  // of the function, plus one if it is visible outside the module
};
FunctionFacts facts_of(const ::llvm::Function& function);

// Cached as long as LLVM caches its own FunctionPropertiesAnalysis.
class FunctionFactsAnalysis : public ::llvm::AnalysisInfoMixin<FunctionFactsAnalysis> {
 public:
  using Result = FunctionFacts;
  Result run(::llvm::Function& function, ::llvm::FunctionAnalysisManager& analyses);

 private:
  friend ::llvm::AnalysisInfoMixin<FunctionFactsAnalysis>;
  static ::llvm::AnalysisKey Key;
};

class CallGraphFacts {
 public:
  // `analyses` must have a FunctionFactsAnalysis.
  CallGraphFacts(::llvm::Module& module, ::llvm::FunctionAnalysisManager& analyses);

  // Called when the inliner begins and ends its work on a component of the call graph.
  void enter(const ::llvm::LazyCallGraph::SCC& component);
  void leave(const ::llvm::LazyCallGraph::SCC& component);
  // Called after a call was inlined; `calls_before` is the sum of their local calls before that.
  void inlined(::llvm::Function& caller, ::llvm::Function& callee, bool is_callee_gone,
               std::int64_t calls_before);

  const FunctionFacts& facts(::llvm::Function& function);
  // The height of the function above the functions without calls.
  std::int64_t level(const ::llvm::Function& function) const;
  std::int64_t functions() const { return functions_; }
  std::int64_t calls() const { return calls_; }

 private:
  using Node = ::llvm::LazyCallGraph::Node;

  void find_levels(::llvm::Module& module);

  ::llvm::FunctionAnalysisManager& analyses_;
  std::map<const ::llvm::Function*, FunctionFacts> facts_;
  std::map<const ::llvm::Function*, unsigned> levels_;
  ::llvm::DenseSet<const ::llvm::Function*> known_;
  ::llvm::SmallPtrSet<const Node*, 1> last_component_;
  std::int64_t functions_ = 0;
  std::int64_t calls_ = 0;
  std::int64_t calls_of_last_component_ = 0;
};

}  // namespace compiler_gym::llvm
