// An advisor of LLVM's inliner that leaves decisions to a callback.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "call_graph_facts.h"
#include "compiler_gym/llvm/inlining.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/InlineAdvisor.h"

namespace compiler_gym::llvm {

class AskingAdvisor;

// True if nothing in a function can prevent inlining it, at any call and with any arguments. If
// false, LLVM's cost estimate decides for each call.
class PlainlyInlinable : public ::llvm::AnalysisInfoMixin<PlainlyInlinable> {
 public:
  struct Result {
    bool holds;
  };
  Result run(::llvm::Function& function, ::llvm::FunctionAnalysisManager& analyses);

 private:
  friend ::llvm::AnalysisInfoMixin<PlainlyInlinable>;
  static ::llvm::AnalysisKey Key;
};

// A call whose inlining is possible but not mandatory.
struct InlineQuestion {
  AskingAdvisor* advisor;
  ::llvm::CallBase* call;
  bool standard;  // LLVM's own choice
};

// The function analyses must have a FunctionFactsAnalysis and a PlainlyInlinable.
class AskingAdvisor : public ::llvm::InlineAdvisor {
 public:
  // Return whether to inline.
  using Ask = std::function<bool(const InlineQuestion&)>;

  AskingAdvisor(::llvm::Module& module, ::llvm::FunctionAnalysisManager& analyses,
                const ::llvm::InlineParams& parameters, ::llvm::InlineContext context, Ask ask);

  void onPassEntry(::llvm::LazyCallGraph::SCC* component) override;
  void onPassExit(::llvm::LazyCallGraph::SCC* component) override;

  // Changes nothing, so the result of the run does not depend on whether it is called.
  InlineFeatures features(const InlineQuestion& question);
  // Return an upper bound of the instructions added since the last call.
  std::int64_t take_growth();

 private:
  class Advice;

  std::unique_ptr<::llvm::InlineAdvice> getAdviceImpl(::llvm::CallBase& call) override;
  bool may_be_asked(::llvm::CallBase& call, bool standard);
  bool is_reachable(const ::llvm::BasicBlock& block);
  std::optional<int> cost_estimate(::llvm::CallBase& call);
  void inlined(::llvm::Function& caller, ::llvm::Function& callee, bool is_callee_gone,
               std::int64_t calls_before);

  ::llvm::DefaultInlineAdvisor standard_;
  Ask ask_;
  CallGraphFacts graph_;
  // The caller of the latest question.
  const ::llvm::Function* reached_of_ = nullptr;
  ::llvm::SmallPtrSet<const ::llvm::BasicBlock*, 32> reached_;
  std::int64_t growth_ = 0;
};

}  // namespace compiler_gym::llvm
