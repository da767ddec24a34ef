#include "change_detector.h"

#include <utility>

#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"

namespace compiler_gym::llvm {

namespace {

// The function that contains a unit; null for modules and components of the call graph.
const ::llvm::Function* function_of(const ::llvm::Any& unit) {
  if (const auto* held = ::llvm::any_cast<const ::llvm::Function*>(&unit)) return *held;
  if (const auto* loop = ::llvm::any_cast<const ::llvm::Loop*>(&unit)) {
    return (*loop)->getHeader()->getParent();
  }
  return nullptr;
}

bool is_all_reachable(const ::llvm::Function& function) {
  ::llvm::df_iterator_default_set<const ::llvm::BasicBlock*, 32> reached;
  for (const auto* block : ::llvm::depth_first_ext(&function, reached)) (void)block;
  return reached.size() == function.size();
}

// Pass managers only run other passes, each of which is reported separately.
bool is_manager(::llvm::StringRef pass) {
  return pass.starts_with("PassManager<") || pass.ends_with("PassAdaptor") ||
         pass.starts_with("RepeatedPass<") || pass.starts_with("RequireAnalysisPass<") ||
         pass.starts_with("InvalidateAnalysisPass<") || pass == "InvalidateAllAnalysesPass" ||
         pass == "DevirtSCCRepeatedPass" || pass == "ModuleInlinerWrapperPass" ||
         pass == "VerifierPass";
}

}  // namespace

ChangeDetector::ChangeDetector(Whole whole, PassTiming* timing)
    : whole_(std::move(whole)), timing_(timing) {}

void ChangeDetector::listen_to(::llvm::PassInstrumentationCallbacks& callbacks) {
  callbacks.registerBeforeNonSkippedPassCallback(
      [this](::llvm::StringRef pass, ::llvm::Any unit) { before(pass, unit); });
  callbacks.registerAfterPassCallback(
      [this](::llvm::StringRef pass, ::llvm::Any, const ::llvm::PreservedAnalyses& preserved) {
        after(pass, preserved.areAllPreserved());
      });
  // The unit no longer exists.
  callbacks.registerAfterPassInvalidatedCallback(
      [this](::llvm::StringRef pass, const ::llvm::PreservedAnalyses&) {
        after(pass, /*vouched=*/false);
      });
}

void ChangeDetector::begin(bool is_one_pass, bool is_asked, Listener listener) {
  is_one_pass_ = is_one_pass;
  changed_ = !is_asked;
  any_claim_ = is_doubted_ = false;
  before_.reset();
  listener_ = std::move(listener);
}

bool ChangeDetector::changed() {
  const Timed timed(timing_, PartKind::detection, "compare");
  listener_ = nullptr;
  return any_claim_ && (changed_ || whole_() != *before_);
}

void ChangeDetector::before(::llvm::StringRef pass, const ::llvm::Any& unit) {
  const Word& word = word_of(pass);
  if (word.is_manager) return;
  const Timed timed(timing_, PartKind::detection, "read before passes");
  const auto* function = function_of(unit);
  is_doubted_ = word.trust.only_where_reachable && !(function && is_all_reachable(*function));
  // Without a hash there is nothing to compare with, so trust the pass.
  const bool is_believed = word.trust.nothing && word.trust.something && !is_doubted_;
  if (!changed_ && !before_ && !(is_believed && is_one_pass_)) before_ = whole_();
}

void ChangeDetector::after(::llvm::StringRef pass, bool vouched) {
  const Word& word = word_of(pass);
  if (word.is_manager) return;
  if (listener_) listener_(pass, vouched);
  const bool is_doubted = std::exchange(is_doubted_, false);
  if (vouched && word.trust.nothing && !is_doubted) return;
  any_claim_ = true;
  changed_ |= word.trust.something && is_one_pass_ && !vouched;
}

// A pass returns its name at the same address each time.
const ChangeDetector::Word& ChangeDetector::word_of(::llvm::StringRef pass) {
  const auto [place, is_new] = words_.try_emplace(pass.data());
  if (is_new) place->second = {is_manager(pass), trust_in(pass)};
  return place->second;
}

}  // namespace compiler_gym::llvm
