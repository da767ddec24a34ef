#include "compiler_gym/llvm/pass_timing.h"

#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Passes/PassBuilder.h"

namespace compiler_gym::llvm {
namespace {

::llvm::StringRef text(std::string_view name) { return {name.data(), name.size()}; }

}  // namespace

const char* part_kind_name(PartKind kind) {
  switch (kind) {
    case PartKind::pass: return "pass";
    case PartKind::analysis: return "analysis";
    case PartKind::detection: return "detection";
    default: return "surroundings";
  }
}

// Callbacks receive the classes of passes; a builder knows their names in pipelines.
struct PassTiming::Names {
  std::string of(std::string_view name) {
    const auto known = callbacks.getPassNameForClassName(text(name));
    return known.empty() ? std::string(name) : known.str();
  }

  ::llvm::PassInstrumentationCallbacks callbacks;
  ::llvm::PassBuilder builder{nullptr, ::llvm::PipelineTuningOptions(), std::nullopt, &callbacks};
};

PassTiming::PassTiming() : names_(std::make_unique<Names>()) {}
PassTiming::~PassTiming() = default;

void PassTiming::listen_to(::llvm::PassInstrumentationCallbacks& callbacks) {
  const auto begins = [this](PartKind kind) {
    return [this, kind](::llvm::StringRef name, ::llvm::Any) { begin(kind, name); };
  };
  callbacks.registerBeforeNonSkippedPassCallback(begins(PartKind::pass));
  callbacks.registerBeforeAnalysisCallback(begins(PartKind::analysis));
  // Run before other callbacks, whose time does not belong to the pass.
  callbacks.registerAfterPassCallback(
      [this](::llvm::StringRef, ::llvm::Any, const ::llvm::PreservedAnalyses&) { end(); },
      /*ToFront=*/true);
  callbacks.registerAfterPassInvalidatedCallback(
      [this](::llvm::StringRef, const ::llvm::PreservedAnalyses&) { end(); }, /*ToFront=*/true);
  callbacks.registerAfterAnalysisCallback([this](::llvm::StringRef, ::llvm::Any) { end(); },
                                          /*ToFront=*/true);
}

void PassTiming::begin(PartKind kind, std::string_view name) {
  const auto node = part(open_.empty() ? -1 : open_.back().node, kind, name);
  ++nodes_[node].calls;
  open_.push_back({node, Clock::now()});
}

void PassTiming::end() {
  if (!open_.empty()) end_down_to(open_.size() - 1);
}

void PassTiming::end_down_to(std::size_t depth) {
  const auto now = Clock::now();
  for (; open_.size() > depth; open_.pop_back()) {
    nodes_[open_.back().node].taken += now - open_.back().since;
  }
}

std::ptrdiff_t PassTiming::part(std::ptrdiff_t parent, PartKind kind, std::string_view name) {
  for (const auto known : parent < 0 ? roots_ : nodes_[parent].parts) {
    if (nodes_[known].kind == kind && nodes_[known].name == name) return known;
  }
  const auto place = static_cast<std::ptrdiff_t>(nodes_.size());
  nodes_.push_back({name, kind, parent});
  (parent < 0 ? roots_ : nodes_[parent].parts).push_back(place);
  return place;
}

std::vector<TimedPart> PassTiming::take() {
  end_down_to(0);
  std::vector<TimedPart> taken;
  taken.reserve(nodes_.size());
  for (const auto& node : nodes_) {
    const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(node.taken);
    taken.push_back(
        {names_->of(node.name), node.kind, node.parent, node.calls, nanoseconds.count()});
  }
  nodes_.clear();
  roots_.clear();
  return taken;
}

}  // namespace compiler_gym::llvm
