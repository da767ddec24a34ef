// What LLVM's learned inliner knows of functions and of the call graph while it inlines.
//
// The numbers are those of LLVM's MLInlineAdvisor, as old as they are there: some are looked up
// once for a component of the call graph, although inlining changes them. A test compares them
// with what opt sends to a model.
#pragma once

#include <cstdint>
#include <map>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LazyCallGraph.h"
#include "llvm/IR/PassManager.h"

namespace compiler_gym::llvm {

// Of the blocks that the entry may reach.
struct FunctionFacts {
  std::int64_t blocks = 0;
  std::int64_t conditional_blocks = 0;  // successors of conditional branches and of switches
  std::int64_t local_calls = 0;         // direct calls of functions that have a body
  std::int64_t instructions = 0;
  std::int64_t uses = 0;  // of the function, and one more if others may see it
};
FunctionFacts facts_of(const ::llvm::Function& function);

// Keeps them as long as LLVM keeps its own FunctionPropertiesAnalysis.
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
  // `analyses` has a FunctionFactsAnalysis.
  CallGraphFacts(::llvm::Module& module, ::llvm::FunctionAnalysisManager& analyses);

  // When the inliner begins and ends its work on a component of the call graph.
  void enter(const ::llvm::LazyCallGraph::SCC& component);
  void leave(const ::llvm::LazyCallGraph::SCC& component);
  // After a call was inlined; `calls_before` is the sum of their local calls before it.
  void inlined(::llvm::Function& caller, ::llvm::Function& callee, bool is_callee_gone,
               std::int64_t calls_before);

  const FunctionFacts& facts(::llvm::Function& function);
  // How far it is above the functions that call none.
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
