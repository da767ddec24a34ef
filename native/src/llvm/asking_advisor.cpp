#include "asking_advisor.h"

#include <map>
#include <utility>

#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/Analysis/InlineModelFeatureMaps.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Module.h"

namespace compiler_gym::llvm {
namespace {

using ::llvm::CallBase;
using ::llvm::FeatureIndex;
using ::llvm::Function;

// Assumptions that are computed here are not cached: a pass that finds cached ones might behave
// differently than without us.
class Assumptions {
 public:
  explicit Assumptions(::llvm::TargetTransformInfo& target) : target_(target) {}

  ::llvm::AssumptionCache& operator()(Function& function) {
    auto& cache = caches_[&function];
    if (!cache) cache = std::make_unique<::llvm::AssumptionCache>(function, &target_);
    return *cache;
  }

 private:
  ::llvm::TargetTransformInfo& target_;
  std::map<Function*, std::unique_ptr<::llvm::AssumptionCache>> caches_;
};

// LLVM allows at most this stack allocation when it inlines into a recursive function.
constexpr std::uint64_t most_allocated = ::llvm::InlineConstants::TotalAllocaSizeRecursiveCaller;

// Return whether the analysis of a call gives up at this instruction, for reasons that
// isInlineViable() does not check.
bool prevents_inlining(const ::llvm::Instruction& instruction, std::uint64_t& allocated) {
  if (const auto* call = ::llvm::dyn_cast<CallBase>(&instruction)) return call->cannotDuplicate();
  const auto* const alloca = ::llvm::dyn_cast<::llvm::AllocaInst>(&instruction);
  if (!alloca) return false;
  const auto size = alloca->getAllocationSize(instruction.getDataLayout());
  if (!alloca->isStaticAlloca() || !size || size->isScalable()) return true;
  allocated += size->getFixedValue();
  return allocated > most_allocated;
}

std::int64_t constant_arguments(const CallBase& call) {
  std::int64_t count = 0;
  for (const auto& argument : call.args()) count += ::llvm::isa<::llvm::Constant>(argument);
  return count;
}

}  // namespace

::llvm::AnalysisKey PlainlyInlinable::Key;

PlainlyInlinable::Result PlainlyInlinable::run(Function& function,
                                               ::llvm::FunctionAnalysisManager&) {
  if (!::llvm::isInlineViable(function).isSuccess()) return {false};
  std::uint64_t allocated = 0;
  for (const auto& block : function) {
    for (const auto& instruction : block) {
      if (prevents_inlining(instruction, allocated)) return {false};
    }
  }
  return {true};
}

// Also records the outcome for LLVM's own advice, for its remarks.
class AskingAdvisor::Advice : public ::llvm::InlineAdvice {
 public:
  Advice(AskingAdvisor& advisor, CallBase& call, ::llvm::OptimizationRemarkEmitter& remarks,
         bool recommended, std::unique_ptr<::llvm::InlineAdvice> standard)
      : InlineAdvice(&advisor, call, remarks, recommended),
        asking_(advisor),
        standard_(std::move(standard)),
        follows_(standard_->isInliningRecommended() == recommended) {
    if (!recommended) return;
    callee_instructions_ = advisor.graph_.facts(*Callee).instructions;
    calls_ = advisor.graph_.facts(*Caller).local_calls + advisor.graph_.facts(*Callee).local_calls;
  }

 private:
  void recordInliningImpl() override {
    if (follows_)
      standard_->recordInlining();
    else
      standard_->recordUnattemptedInlining();
    inlined(/*is_callee_gone=*/false);
  }

  void recordInliningWithCalleeDeletedImpl() override {
    if (follows_)
      standard_->recordInliningWithCalleeDeleted();
    else
      standard_->recordUnattemptedInlining();
    inlined(/*is_callee_gone=*/true);
  }

  void recordUnsuccessfulInliningImpl(const ::llvm::InlineResult& result) override {
    if (follows_)
      standard_->recordUnsuccessfulInlining(result);
    else
      standard_->recordUnattemptedInlining();
  }

  void recordUnattemptedInliningImpl() override { standard_->recordUnattemptedInlining(); }

  void inlined(bool is_callee_gone) {
    asking_.growth_ += callee_instructions_;
    asking_.inlined(*Caller, *Callee, is_callee_gone, calls_);
  }

  AskingAdvisor& asking_;
  const std::unique_ptr<::llvm::InlineAdvice> standard_;
  const bool follows_;
  std::int64_t callee_instructions_ = 0;
  std::int64_t calls_ = 0;
};

AskingAdvisor::AskingAdvisor(::llvm::Module& module, ::llvm::FunctionAnalysisManager& analyses,
                             const ::llvm::InlineParams& parameters, ::llvm::InlineContext context,
                             Ask ask)
    : InlineAdvisor(module, analyses, context),
      standard_(module, analyses, parameters, context),
      ask_(std::move(ask)),
      graph_(module, analyses) {}

void AskingAdvisor::onPassEntry(::llvm::LazyCallGraph::SCC* component) {
  reached_of_ = nullptr;
  if (component) graph_.enter(*component);
}

void AskingAdvisor::onPassExit(::llvm::LazyCallGraph::SCC* component) {
  if (component) graph_.leave(*component);
}

std::unique_ptr<::llvm::InlineAdvice> AskingAdvisor::getAdviceImpl(CallBase& call) {
  auto standard = standard_.getAdvice(call);
  bool recommended = standard->isInliningRecommended();
  if (may_be_asked(call, recommended)) {
    // Computed before the answer, as in LLVM's own learned inliner.
    graph_.facts(*call.getCaller());
    graph_.facts(*call.getCalledFunction());
    recommended = ask_({this, &call, recommended});
  }
  return std::make_unique<Advice>(*this, call, getCallerORE(call), recommended,
                                  std::move(standard));
}

bool AskingAdvisor::may_be_asked(CallBase& call, bool standard) {
  if (call.getCaller() == call.getCalledFunction()) return false;
  if (!is_reachable(*call.getParent())) return false;
  const auto kind = getMandatoryKind(call, FAM, getCallerORE(call));
  if (kind != MandatoryInliningKind::NotMandatory) return false;
  if (standard || FAM.getResult<PlainlyInlinable>(*call.getCalledFunction()).holds) return true;
  return cost_estimate(call).has_value();
}

bool AskingAdvisor::is_reachable(const ::llvm::BasicBlock& block) {
  const Function* const caller = block.getParent();
  if (&block == &caller->getEntryBlock()) return true;
  if (reached_of_ != caller) {
    reached_of_ = caller;
    reached_.clear();
    for (const auto* reached : ::llvm::depth_first(&caller->getEntryBlock())) {
      reached_.insert(reached);
    }
  }
  return reached_.contains(&block);
}

std::optional<int> AskingAdvisor::cost_estimate(CallBase& call) {
  auto& target = FAM.getResult<::llvm::TargetIRAnalysis>(*call.getCalledFunction());
  Assumptions assumptions(target);
  return ::llvm::getInliningCostEstimate(call, target, assumptions);
}

void AskingAdvisor::inlined(Function& caller, Function& callee, bool is_callee_gone,
                            std::int64_t calls_before) {
  reached_of_ = nullptr;
  graph_.inlined(caller, callee, is_callee_gone, calls_before);
}

std::int64_t AskingAdvisor::take_growth() { return std::exchange(growth_, 0); }

InlineFeatures AskingAdvisor::features(const InlineQuestion& question) {
  CallBase& call = *question.call;
  Function& caller = *call.getCaller();
  Function& callee = *call.getCalledFunction();
  auto& target = FAM.getResult<::llvm::TargetIRAnalysis>(callee);
  Assumptions assumptions(target);
  InlineFeatures features{};
  const auto costs = ::llvm::getInliningCostFeatures(call, target, assumptions);
  for (std::size_t i = 0; costs && i < costs->size(); ++i) features[i] = (*costs)[i];
  const auto set = [&](FeatureIndex at, std::int64_t value) {
    features[static_cast<std::size_t>(at)] = value;
  };
  const FunctionFacts& above = graph_.facts(caller);
  const FunctionFacts& below = graph_.facts(callee);
  set(FeatureIndex::callee_basic_block_count, below.blocks);
  set(FeatureIndex::callsite_height, graph_.level(caller));
  set(FeatureIndex::node_count, graph_.functions());
  set(FeatureIndex::nr_ctant_params, constant_arguments(call));
  set(FeatureIndex::cost_estimate, cost_estimate(call).value_or(0));
  set(FeatureIndex::edge_count, graph_.calls());
  set(FeatureIndex::caller_users, above.uses);
  set(FeatureIndex::caller_conditionally_executed_blocks, above.conditional_blocks);
  set(FeatureIndex::caller_basic_block_count, above.blocks);
  set(FeatureIndex::callee_conditionally_executed_blocks, below.conditional_blocks);
  set(FeatureIndex::callee_users, below.uses);
  set(FeatureIndex::is_callee_avail_external, callee.hasAvailableExternallyLinkage());
  set(FeatureIndex::is_caller_avail_external, caller.hasAvailableExternallyLinkage());
  features.back() = question.standard;
  return features;
}

}  // namespace compiler_gym::llvm
