#include "compiler_gym/llvm/marks.h"

#include <algorithm>
#include <array>

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/module.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Transforms/Utils/LoopPeel.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ValueMapper.h"
#include "loop_analyses.h"
#include "mark_ids.h"

namespace compiler_gym::llvm {
namespace {

using ::llvm::CallBase;
using ::llvm::Function;
using ::llvm::Instruction;
using ::llvm::MDNode;

constexpr const char* kind_names[] = {"call", "loop", "function"};

std::size_t at(PointKind kind) { return static_cast<std::size_t>(kind); }

// One more than the highest id of each kind that a module has.
std::array<std::int32_t, point_kinds> next_ids(const ::llvm::Module& module) {
  std::array<std::int32_t, point_kinds> next{};
  const auto see = [&](PointKind kind, std::int32_t id) {
    next[at(kind)] = std::max(next[at(kind)], id + 1);
  };
  for (const auto& function : module) {
    see(PointKind::function, id_of(function));
    for (const auto& block : function) {
      for (const auto& instruction : block) {
        if (const auto* call = ::llvm::dyn_cast<CallBase>(&instruction)) {
          see(PointKind::call, id_of(*call));
        }
      }
      if (const auto* end = block.getTerminator()) {
        see(PointKind::loop, id_of_loop(end->getMetadata(::llvm::LLVMContext::MD_loop)));
      }
    }
  }
  return next;
}

bool number_loops(Function& function, std::int32_t& next) {
  const auto known = make_fragile<Loops>(function);
  bool changed = false;
  for (auto* loop : known->loops.getLoopsInPreorder()) {
    if (next > highest_id) break;
    // A new `!llvm.loop` keeps SimplifyCFG from merging the latches of nested loops: an id alone
    // would then change the code.
    auto* properties = loop->getLoopID();
    if (!properties || id_of_loop(properties) != no_id) continue;
    loop->setLoopID(with_id(function.getContext(), properties, next++));
    changed = true;
  }
  return changed;
}

bool number_all(::llvm::Module& module) {
  auto next = next_ids(module);
  bool changed = false;
  for (auto& function : module) {
    if (function.isDeclaration() || function.hasOptNone()) continue;
    if (id_of(function) == no_id && next[at(PointKind::function)] <= highest_id) {
      set_id(function, next[at(PointKind::function)]++);
      changed = true;
    }
    for (auto& block : function) {
      for (auto& instruction : block) {
        auto* call = ::llvm::dyn_cast<CallBase>(&instruction);
        if (!call || !is_call_site(*call) || id_of(*call) != no_id ||
            next[at(PointKind::call)] > highest_id) {
          continue;
        }
        set_id(*call, next[at(PointKind::call)]++);
        changed = true;
      }
    }
    changed |= number_loops(function, next[at(PointKind::loop)]);
  }
  return changed;
}

// Peel the loop with the latch `end`, at once.
bool peel(Instruction& end, std::int32_t id, unsigned count) {
  auto& function = *end.getFunction();
  const ::llvm::TargetLibraryInfoImpl library(function.getParent()->getTargetTriple());
  const auto analyses = make_fragile<LoopAnalyses>(function, library);
  auto& [dominators, loops] = static_cast<Loops&>(*analyses);
  auto* loop = loops.getLoopFor(end.getParent());
  while (loop && !(loop->isLoopLatch(end.getParent()) && id_of_loop(loop->getLoopID()) == id)) {
    loop = loop->getParentLoop();
  }
  if (!loop || !loop->isLoopSimplifyForm() || !::llvm::canPeel(loop)) return false;
  ::llvm::formLCSSARecursively(*loop, dominators, &loops, &analyses->evolution);
  ::llvm::ValueToValueMapTy values;
  return ::llvm::peelLoop(loop, count, /*PeelLast=*/false, &loops, &analyses->evolution, dominators,
                          &analyses->assumptions, /*PreserveLCSSA=*/true, values);
}

std::string label(const CallSites& calls, std::size_t row) {
  return calls.names[calls.caller[row]] + " -> " + calls.names[calls.callee[row]];
}

std::string label(const MarkedLoops& loops, std::size_t row) {
  std::string text = loops.names[loops.function[row]] + ", block " +
                     std::to_string(loops.header[row]) + ", depth " +
                     std::to_string(loops.depth[row]);
  if (loops.trip_count[row]) text += ", " + std::to_string(loops.trip_count[row]) + " times";
  return text;
}

constexpr std::uint32_t all_of(std::size_t choices) { return (1U << choices) - 1; }

std::uint32_t allowed_for_loop(bool is_peelable) {
  std::uint32_t allowed = 0;
  const auto size = choice_names(PointKind::loop).size();
  for (std::size_t choice = 0; choice < size; ++choice) {
    if (is_peelable || !peel_count(choice)) allowed |= 1U << choice;
  }
  return allowed;
}

}  // namespace

// An index from ids to objects for one version of the module.
struct Marks::Index {
  std::uint64_t version = 0;
  std::vector<Point> points;
  ::llvm::DenseMap<std::int32_t, std::size_t> place[point_kinds];  // in `points`
  ::llvm::DenseMap<std::int32_t, ::llvm::SmallVector<CallBase*, 1>> calls;
  ::llvm::DenseMap<std::int32_t, ::llvm::SmallVector<Instruction*, 1>> latches;
  ::llvm::DenseMap<std::int32_t, ::llvm::SmallVector<Function*, 1>> functions;

  explicit Index(const ::llvm::Module& module) {
    add_points(module);
    // Analyses and marks take non-const objects: the module belongs to the caller.
    for (auto& function : const_cast<::llvm::Module&>(module)) {
      if (const auto id = id_of(function); id != no_id) functions[id].push_back(&function);
      for (auto& block : function) {
        for (auto& instruction : block) {
          auto* call = ::llvm::dyn_cast<CallBase>(&instruction);
          if (!call) continue;
          if (const auto id = id_of(*call); id != no_id) calls[id].push_back(call);
        }
        auto* end = block.getTerminator();
        const auto id = id_of_loop(end->getMetadata(::llvm::LLVMContext::MD_loop));
        if (id != no_id) latches[id].push_back(end);
      }
    }
  }

 private:
  void add_points(const ::llvm::Module& module) {
    const auto [calls, loops, functions] = decision_tables(module);
    for (std::size_t row = 0; row < calls.id.size(); ++row) {
      auto allowed = all_of(3);
      if (!calls.is_inlinable[row]) allowed &= ~2U;
      add({PointKind::call, calls.id[row], allowed, label(calls, row)});
    }
    for (std::size_t row = 0; row < loops.id.size(); ++row) {
      add({PointKind::loop, loops.id[row], allowed_for_loop(loops.is_peelable[row]),
           label(loops, row)});
    }
    for (std::size_t row = 0; row < functions.id.size(); ++row) {
      add({PointKind::function, functions.id[row],
           static_cast<std::uint32_t>(functions.allowed[row]), functions.names[row]});
    }
    std::stable_sort(points.begin(), points.end(), [](const Point& one, const Point& other) {
      return std::pair(one.kind, one.id) < std::pair(other.kind, other.id);
    });
    for (std::size_t i = 0; i < points.size(); ++i) place[at(points[i].kind)][points[i].id] = i;
  }

  void add(Point point) {
    if (point.id != no_id && point.allowed) points.push_back(std::move(point));
  }
};

Marks::Marks(Module& module) : module_(module) {}
Marks::~Marks() = default;

void Marks::number() { module_.edit(number_all); }

Marks::Index& Marks::index() {
  if (!index_ || index_->version != module_.version()) {
    index_.reset();
    module_.inspect(
        [&](const ::llvm::Module& module) { index_ = std::make_unique<Index>(module); });
    index_->version = module_.version();
  }
  return *index_;
}

const std::vector<Point>& Marks::points() { return index().points; }

std::int32_t Marks::ids(PointKind kind) {
  std::int32_t count = 0;
  module_.inspect([&](const ::llvm::Module& module) { count = next_ids(module)[at(kind)]; });
  return count;
}

bool Marks::choose(PointKind kind, std::int32_t id, std::size_t choice) {
  auto& found = index();
  const auto known = found.place[at(kind)].find(id);
  const auto name = std::string(kind_names[at(kind)]) + ":" + std::to_string(id);
  if (known == found.place[at(kind)].end()) {
    throw RefusedError("there is no " + name +
                       " in the program now: it never had one, or a pass removed it. Use a "
                       "decision that the action space lists");
  }
  const auto& point = found.points[known->second];
  const auto& choices = choice_names(kind);
  if (choice >= choices.size() || !(point.allowed >> choice & 1)) {
    std::string expected;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      if (point.allowed >> i & 1) expected += (expected.empty() ? "" : ", ") + choices[i];
    }
    throw RefusedError(name + " (" + point.label + ") cannot be " +
                       (choice < choices.size() ? choices[choice] : std::to_string(choice)) +
                       ": use one of " + expected);
  }
  const auto peels = kind == PointKind::loop ? peel_count(choice) : std::nullopt;
  bool changed = false;
  module_.edit([&](::llvm::Module&) {
    if (kind == PointKind::call) {
      for (auto* call : found.calls[id]) changed |= mark(*call, choice);
    } else if (kind == PointKind::function) {
      for (auto* function : found.functions[id]) changed |= mark(*function, choice);
    } else if (peels) {
      // Peeling one loop may remove others.
      const ::llvm::SmallVector<::llvm::WeakVH, 4> ends(found.latches[id].begin(),
                                                        found.latches[id].end());
      for (const auto& end : ends) {
        if (end) changed |= peel(*::llvm::cast<Instruction>(end), id, *peels);
      }
    } else {
      ::llvm::SmallDenseMap<MDNode*, MDNode*, 2> marked;  // loops with a shared node share one
      for (auto* end : found.latches[id]) {
        auto* before = end->getMetadata(::llvm::LLVMContext::MD_loop);
        auto& after = marked[before];
        if (!after) after = mark_loop(before, choice);
        changed |= after != before;
        end->setMetadata(::llvm::LLVMContext::MD_loop, after);
      }
    }
    return changed;
  });
  // A mark moves nothing; peeling makes copies.
  if (!peels) found.version = module_.version();
  return changed;
}

}  // namespace compiler_gym::llvm
