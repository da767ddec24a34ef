#include <algorithm>

#include "compiler_gym/llvm/marks.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopPeel.h"
#include "loop_analyses.h"
#include "mark_ids.h"

namespace compiler_gym::llvm {
namespace {

using ::llvm::CallBase;
using ::llvm::Function;

// Analyses take non-const functions; those used here change nothing.
Function& for_analysis(const Function& function) { return const_cast<Function&>(function); }

// Return the number of instructions.
template <class Visit>
std::int64_t for_each_call(const Function& function, Visit&& visit) {
  std::int64_t instructions = 0;
  for (const auto& block : function) {
    for (const auto& instruction : block) {
      ++instructions;
      if (const auto* call = ::llvm::dyn_cast<CallBase>(&instruction)) visit(*call);
    }
  }
  return instructions;
}

// The functions of a module by number, their direct calls, and the cycles among them.
class CallGraph {
 public:
  explicit CallGraph(const ::llvm::Module& module) {
    for (const auto& function : module) {
      place_[&function] = static_cast<std::int32_t>(names.size());
      names.push_back(function.getName().str());
    }
    callees_.resize(names.size());
    callers.resize(names.size());
    calls.resize(names.size());
    sizes.resize(names.size());
    for (const auto& function : module) {
      const auto caller = at(function);
      sizes[caller] = for_each_call(function, [&](const CallBase& call) {
        const auto* callee = call.getCalledFunction();
        if (!callee || callee->isIntrinsic()) return;
        ++callers[at(*callee)];
        if (callee->isDeclaration()) return;
        ++calls[caller];
        callees_[caller].push_back(at(*callee));
      });
    }
    find_components();
  }

  std::int32_t at(const Function& function) const { return place_.lookup(&function); }
  // Return whether a call of `callee` may lead back to `caller`.
  bool is_cycle(const Function& caller, const Function& callee) const {
    return component_[at(caller)] == component_[at(callee)];
  }

  std::vector<std::string> names;
  std::vector<std::int32_t> callers;  // direct calls of the function
  std::vector<std::int32_t> calls;    // direct calls, in the function, of functions with a body
  std::vector<std::int64_t> sizes;    // instructions

 private:
  // Tarjan's algorithm, with an explicit stack: call chains can be arbitrarily deep.
  void find_components() {
    const auto size = callees_.size();
    constexpr std::int32_t unseen = -1;
    component_.assign(size, unseen);
    std::vector<std::int32_t> order(size, unseen), low(size, 0), open;
    std::vector<std::pair<std::int32_t, std::size_t>> path;
    std::int32_t next = 0;
    for (std::size_t root = 0; root < size; ++root) {
      if (order[root] != unseen) continue;
      path.emplace_back(static_cast<std::int32_t>(root), 0);
      while (!path.empty()) {
        auto& [node, edge] = path.back();
        if (edge == 0) {
          order[node] = low[node] = next++;
          open.push_back(node);
        }
        if (edge < callees_[node].size()) {
          const auto callee = callees_[node][edge++];
          if (order[callee] == unseen) {
            path.emplace_back(callee, 0);
          } else if (component_[callee] == unseen) {
            low[node] = std::min(low[node], order[callee]);
          }
          continue;
        }
        const auto done = node;
        if (low[done] == order[done]) {
          while (component_[done] == unseen) {
            component_[open.back()] = done;
            open.pop_back();
          }
        }
        path.pop_back();
        if (!path.empty()) {
          auto& above = path.back().first;
          low[above] = std::min(low[above], low[done]);
        }
      }
    }
  }

  ::llvm::DenseMap<const Function*, std::int32_t> place_;
  std::vector<std::vector<std::int32_t>> callees_;
  std::vector<std::int32_t> component_;
};

class Inlining {
 public:
  explicit Inlining(const CallGraph& graph) : graph_(graph) {}

  // Return whether LLVM can inline the call.
  bool is_possible(const CallBase& call) {
    const auto& caller = *call.getFunction();
    const auto& callee = *call.getCalledFunction();
    return !call.isMustTailCall() && !call.hasOperandBundles() && !caller.hasOptNone() &&
           is_viable(callee) && !graph_.is_cycle(caller, callee) && fit(caller, callee);
  }

 private:
  // The conditions on the callee alone.
  bool is_viable(const Function& callee) {
    const auto [known, is_new] = viable_.try_emplace(&callee, false);
    if (is_new) {
      known->second = !callee.isInterposable() && !callee.hasOptNone() &&
                      !callee.hasFnAttribute(::llvm::Attribute::Naked) &&
                      !callee.isPresplitCoroutine() &&
                      ::llvm::isInlineViable(for_analysis(callee)).isSuccess();
    }
    return known->second;
  }

  static bool fit(const Function& caller, const Function& callee) {
    for (const auto* feature : {"target-cpu", "target-features"}) {
      if (caller.getFnAttribute(feature) != callee.getFnAttribute(feature)) return false;
    }
    if (callee.hasGC() && (!caller.hasGC() || caller.getGC() != callee.getGC())) return false;
    if (callee.hasPersonalityFn() && caller.hasPersonalityFn() &&
        caller.getPersonalityFn() != callee.getPersonalityFn()) {
      return false;
    }
    return ::llvm::AttributeFuncs::areInlineCompatible(caller, callee);
  }

  const CallGraph& graph_;
  ::llvm::DenseMap<const Function*, bool> viable_;
};

// The rows of a table: one for each id, and one for each object without an id.
class Rows {
 public:
  // Return the row of `id`, and whether it is a new one.
  std::pair<std::size_t, bool> row(std::int32_t id) {
    if (id == no_id) return {count_++, true};
    const auto [known, is_new] = known_.try_emplace(id, count_);
    count_ += is_new;
    return {known->second, is_new};
  }

 private:
  ::llvm::DenseMap<std::int32_t, std::size_t> known_;
  std::size_t count_ = 0;
};

void add_loops(const Function& function, std::int32_t place,
               const ::llvm::TargetLibraryInfoImpl& library, Rows& rows, MarkedLoops& table) {
  if (function.size() == 0 || function.hasOptNone()) return;
  const auto analyses = make_fragile<LoopAnalyses>(function, library);
  ::llvm::DenseMap<const ::llvm::BasicBlock*, std::int32_t> block_place;
  for (const auto& block : function) {
    block_place[&block] = static_cast<std::int32_t>(block_place.size());
  }
  for (const auto* loop : analyses->loops.getLoopsInPreorder()) {
    const auto* properties = loop->getLoopID();
    const auto [row, is_new] = rows.row(id_of_loop(properties));
    const bool is_peelable = loop->isLoopSimplifyForm() && ::llvm::canPeel(loop);
    if (!is_new) {
      ++table.copies[row];
      table.is_peelable[row] &= is_peelable;
      continue;
    }
    std::int64_t instructions = 0;
    for (const auto* block : loop->blocks()) {
      instructions += static_cast<std::int64_t>(block->size());
    }
    table.id.push_back(id_of_loop(properties));
    table.function.push_back(place);
    table.header.push_back(block_place[loop->getHeader()]);
    table.depth.push_back(static_cast<std::int32_t>(loop->getLoopDepth()));
    table.copies.push_back(1);
    table.blocks.push_back(static_cast<std::int32_t>(loop->getNumBlocks()));
    table.instructions.push_back(instructions);
    table.trip_count.push_back(analyses->evolution.getSmallConstantTripCount(loop));
    table.choices.push_back(choices_of_loop(properties));
    table.is_peelable.push_back(is_peelable);
  }
}

CallSites call_sites(const ::llvm::Module& module, const CallGraph& graph) {
  Inlining inlining(graph);
  CallSites table;
  table.names = graph.names;
  Rows rows;
  for (const auto& function : module) {
    for_each_call(function, [&](const CallBase& call) {
      if (!is_call_site(call) || !call.getCalledFunction()) return;
      const auto& callee = *call.getCalledFunction();
      const auto [row, is_new] = rows.row(id_of(call));
      const bool is_inlinable = inlining.is_possible(call);
      if (!is_new) {
        ++table.copies[row];
        table.is_inlinable[row] &= is_inlinable;
        return;
      }
      const auto constants = ::llvm::count_if(call.args(), [](const auto& argument) {
        return ::llvm::isa<::llvm::Constant>(argument);
      });
      table.id.push_back(id_of(call));
      table.caller.push_back(graph.at(function));
      table.callee.push_back(graph.at(callee));
      table.copies.push_back(1);
      table.choice.push_back(static_cast<std::int8_t>(choice_of(call)));
      table.is_inlinable.push_back(is_inlinable);
      table.arguments.push_back(static_cast<std::int32_t>(call.arg_size()));
      table.constant_arguments.push_back(static_cast<std::int32_t>(constants));
      table.caller_instructions.push_back(graph.sizes[graph.at(function)]);
      table.callee_instructions.push_back(graph.sizes[graph.at(callee)]);
      table.callee_calls.push_back(graph.callers[graph.at(callee)]);
    });
  }
  return table;
}

MarkedFunctions marked_functions(const ::llvm::Module& module, const CallGraph& graph) {
  MarkedFunctions table;
  Rows rows;
  for (const auto& function : module) {
    if (function.isDeclaration()) continue;
    const auto [row, is_new] = rows.row(id_of(function));
    if (!is_new) {
      ++table.copies[row];
      table.allowed[row] &= allowed_for(function);
      continue;
    }
    table.names.push_back(function.getName().str());
    table.id.push_back(id_of(function));
    table.copies.push_back(1);
    table.choice.push_back(static_cast<std::int8_t>(choice_of(function)));
    table.allowed.push_back(allowed_for(function));
    table.is_local.push_back(function.hasLocalLinkage());
    table.blocks.push_back(static_cast<std::int32_t>(function.size()));
    table.instructions.push_back(graph.sizes[graph.at(function)]);
    table.calls.push_back(graph.calls[graph.at(function)]);
    table.callers.push_back(graph.callers[graph.at(function)]);
  }
  return table;
}

}  // namespace

CallSites call_sites(const ::llvm::Module& module) { return call_sites(module, CallGraph(module)); }

MarkedLoops marked_loops(const ::llvm::Module& module) {
  MarkedLoops table;
  const ::llvm::TargetLibraryInfoImpl library(module.getTargetTriple());
  Rows rows;
  std::int32_t place = 0;
  for (const auto& function : module) {
    table.names.push_back(function.getName().str());
    add_loops(function, place++, library, rows, table);
  }
  return table;
}

MarkedFunctions marked_functions(const ::llvm::Module& module) {
  return marked_functions(module, CallGraph(module));
}

DecisionTables decision_tables(const ::llvm::Module& module) {
  const CallGraph graph(module);
  return {call_sites(module, graph), marked_loops(module), marked_functions(module, graph)};
}

}  // namespace compiler_gym::llvm
