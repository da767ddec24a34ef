#include "call_graph_facts.h"

#include <algorithm>

#include "compiler_gym/given_up.h"
#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace compiler_gym::llvm {
namespace {

// The function with a body that the instruction calls by name, or null.
::llvm::Function* called_by(::llvm::Instruction& instruction) {
  auto* const call = ::llvm::dyn_cast<::llvm::CallBase>(&instruction);
  auto* const callee = call ? call->getCalledFunction() : nullptr;
  return callee && !callee->isDeclaration() ? callee : nullptr;
}

std::int64_t conditional_successors(const ::llvm::BasicBlock& block) {
  const auto* const last = block.getTerminator();
  if (const auto* branch = ::llvm::dyn_cast<::llvm::BranchInst>(last)) {
    return branch->isConditional() ? branch->getNumSuccessors() : 0;
  }
  return ::llvm::isa<::llvm::SwitchInst>(last) ? last->getNumSuccessors() : 0;
}

}  // namespace

::llvm::AnalysisKey FunctionFactsAnalysis::Key;

FunctionFacts facts_of(const ::llvm::Function& function) {
  FunctionFacts facts;
  facts.uses = function.getNumUses() + (function.hasLocalLinkage() ? 0 : 1);
  if (function.isDeclaration()) return facts;
  for (const auto* block : ::llvm::depth_first(&function.getEntryBlock())) {
    ++facts.blocks;
    facts.conditional_blocks += conditional_successors(*block);
    for (const auto& instruction : *block) {
      ++facts.instructions;
      const auto* const call = ::llvm::dyn_cast<::llvm::CallBase>(&instruction);
      const auto* const callee = call ? call->getCalledFunction() : nullptr;
      facts.local_calls += callee && !callee->isDeclaration();
    }
  }
  return facts;
}

FunctionFacts FunctionFactsAnalysis::run(::llvm::Function& function,
                                         ::llvm::FunctionAnalysisManager&) {
  return facts_of(function);
}

CallGraphFacts::CallGraphFacts(::llvm::Module& module, ::llvm::FunctionAnalysisManager& analyses)
    : analyses_(analyses) {
  for (auto& function : module) {
    if (!function.isDeclaration()) facts(function);
  }
  find_levels(module);
  for (const auto& [function, level] : levels_) {
    known_.insert(function);
    calls_ += facts(*const_cast<::llvm::Function*>(function)).local_calls;
  }
  functions_ = static_cast<std::int64_t>(known_.size());
}

// Goes from callees to callers: a callee without a level is in the same component.
void CallGraphFacts::find_levels(::llvm::Module& module) {
  const auto graph = make_fragile<::llvm::CallGraph>(module);
  for (auto component = ::llvm::scc_begin(graph.get()); !component.isAtEnd(); ++component) {
    unsigned level = 0;
    for (const auto* node : *component) {
      auto* const function = node->getFunction();
      if (!function || function->isDeclaration()) continue;
      for (auto& instruction : ::llvm::instructions(function)) {
        const auto found = levels_.find(called_by(instruction));
        if (found != levels_.end()) level = std::max(level, found->second + 1);
      }
    }
    for (const auto* node : *component) {
      const auto* const function = node->getFunction();
      if (function && !function->isDeclaration()) levels_[function] = level;
    }
  }
}

void CallGraphFacts::enter(const ::llvm::LazyCallGraph::SCC& component) {
  facts_.clear();
  // Passes have run on the last component since then. Functions that they added are next to it.
  while (!last_component_.empty()) {
    const Node* const node = *last_component_.begin();
    last_component_.erase(node);
    calls_ += facts(node->getFunction()).local_calls;
    const unsigned level = levels_[&node->getFunction()];
    for (const auto& edge : **node) {
      const auto* const function = &edge.getNode().getFunction();
      if (!known_.insert(function).second) continue;
      ++functions_;
      last_component_.insert(&edge.getNode());
      levels_[function] = level;
    }
  }
  calls_ -= calls_of_last_component_;
  calls_of_last_component_ = 0;
  for (const auto& node : component) last_component_.insert(&node);
}

void CallGraphFacts::leave(const ::llvm::LazyCallGraph::SCC& component) {
  facts_.clear();
  for (const auto& node : component) last_component_.insert(&node);
  calls_of_last_component_ = 0;
  for (const Node* node : last_component_) {
    calls_of_last_component_ += facts(node->getFunction()).local_calls;
  }
}

void CallGraphFacts::inlined(::llvm::Function& caller, ::llvm::Function& callee,
                             bool is_callee_gone, std::int64_t calls_before) {
  auto kept = ::llvm::PreservedAnalyses::all();
  kept.abandon<FunctionFactsAnalysis>();
  analyses_.invalidate(caller, kept);
  facts_[&caller] = facts_of(caller);
  std::int64_t calls_now = facts_[&caller].local_calls;
  if (is_callee_gone) {
    --functions_;
    const auto is_callee = [&](const Node* node) { return &node->getFunction() == &callee; };
    last_component_.remove_if(is_callee);
  } else {
    calls_now += facts(callee).local_calls;
  }
  calls_ += calls_now - calls_before;
}

const FunctionFacts& CallGraphFacts::facts(::llvm::Function& function) {
  const auto [place, is_new] = facts_.try_emplace(&function);
  if (is_new) place->second = analyses_.getResult<FunctionFactsAnalysis>(function);
  return place->second;
}

std::int64_t CallGraphFacts::level(const ::llvm::Function& function) const {
  const auto found = levels_.find(&function);
  return found == levels_.end() ? 0 : found->second;
}

}  // namespace compiler_gym::llvm
