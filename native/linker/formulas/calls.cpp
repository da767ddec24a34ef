#include "formulas/calls.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/InlineAdvisor.h>
#include <llvm/Analysis/InlineCost.h>
#include <llvm/Analysis/InlineOrder.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Module.h>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "formulas/decisions.h"
#include "switches.h"

namespace compiler_gym::linker {
namespace {

constexpr unsigned most_instructions = 20'000;  // inputs.h documents it

double count_calls(const llvm::Function& function) {
  double calls = 0;
  for (const llvm::BasicBlock& block : function)
    for (const llvm::Instruction& instruction : block)
      calls += llvm::isa<llvm::CallBase>(instruction);
  return calls;
}

// Assumptions are not cached: a pass that finds cached ones may behave differently than without us.
std::optional<int> estimate(llvm::CallBase& call, llvm::FunctionAnalysisManager& analyses) {
  auto& target = analyses.getResult<llvm::TargetIRAnalysis>(*call.getCalledFunction());
  std::map<llvm::Function*, std::unique_ptr<llvm::AssumptionCache>> caches;
  const auto find = [&](llvm::Function& function) -> llvm::AssumptionCache& {
    auto& cache = caches[&function];
    if (!cache) cache = std::make_unique<llvm::AssumptionCache>(function, &target);
    return *cache;
  };
  return llvm::getInliningCostEstimate(call, target, find);
}

// INLINE_INPUTS, the first of which is filled in later, and CALL_INPUTS of inputs.h, in order; none
// for calls to which no rule applies.
std::optional<std::array<double, 12>> compute_call_inputs(llvm::CallBase& call,
                                                          llvm::FunctionAnalysisManager& analyses) {
  const llvm::Function& caller = *call.getCaller();
  const llvm::Function& callee = *call.getCalledFunction();
  if (&caller == &callee || caller.getInstructionCount() > most_instructions) return std::nullopt;
  const auto cost = estimate(call, analyses);
  if (!cost) return std::nullopt;
  double constants = 0;
  for (const llvm::Use& argument : call.args()) constants += llvm::isa<llvm::Constant>(argument);
  return {{0, double(*cost), double(callee.getInstructionCount()), double(callee.size()),
           count_calls(callee), double(callee.getNumUses()),
           double(callee.hasLocalLinkage() && !callee.hasAddressTaken()),
           double(caller.getInstructionCount()), double(caller.size()), double(call.arg_size()),
           constants, double(!call.use_empty())}};
}

class Advisor : public llvm::InlineAdvisor {
 public:
  Advisor(llvm::Module& module, llvm::FunctionAnalysisManager& analyses,
          const llvm::InlineParams& parameters, llvm::InlineContext context)
      : InlineAdvisor(module, analyses, context),
        standard_(module, analyses, parameters, context) {}

 private:
  std::unique_ptr<llvm::InlineAdvice> getAdviceImpl(llvm::CallBase&) override;

  llvm::DefaultInlineAdvisor standard_;
};

std::unique_ptr<llvm::InlineAdvice> Advisor::getAdviceImpl(llvm::CallBase& call) {
  auto standard = standard_.getAdvice(call);
  llvm::Function& callee = *call.getCalledFunction();
  llvm::OptimizationRemarkEmitter& remarks = getCallerORE(call);
  if (getMandatoryKind(call, FAM, remarks) != MandatoryInliningKind::NotMandatory ||
      !llvm::isInlineViable(callee).isSuccess())
    return standard;
  auto inputs = compute_call_inputs(call, FAM);
  if (!inputs) return standard;
  const bool own = standard->isInliningRecommended();
  inputs->front() = own;
  const bool wanted = (*Decisions::get().inline_call)(*inputs) > 0;
  if (wanted == own || !Switches::get().spend()) return standard;
  Switches::get().count(wanted ? "inline" : "no-inline",
                        (callee.getName() + " in " + call.getCaller()->getName()).str());
  standard->recordUnattemptedInlining();
  return std::make_unique<llvm::InlineAdvice>(this, call, remarks, wanted);
}

llvm::InlineAdvisor* create_advisor(llvm::Module& module, llvm::FunctionAnalysisManager& analyses,
                                    llvm::InlineParams parameters, llvm::InlineContext context) {
  return new Advisor(module, analyses, parameters, context);
}

using Call = std::pair<llvm::CallBase*, int>;

// The call with the highest score comes first; equal ones keep their order.
class Order : public llvm::InlineOrder<Call> {
 public:
  explicit Order(llvm::FunctionAnalysisManager& analyses) : analyses_(analyses) {}

  std::size_t size() override { return calls_.size(); }
  void push(const Call& call) override {
    const auto inputs = compute_call_inputs(*call.first, analyses_);
    const double score =
        inputs ? (*Decisions::get().order)(llvm::ArrayRef(*inputs).drop_front()) : -last;
    calls_.insert({{std::isnan(score) ? last : -score, met_++}, call});
  }
  Call pop() override { return calls_.extract(calls_.begin()).mapped(); }
  void erase_if(llvm::function_ref<bool(Call)> is_gone) override {
    std::erase_if(calls_, [&](const auto& entry) { return is_gone(entry.second); });
  }

 private:
  static constexpr double last = std::numeric_limits<double>::infinity();

  llvm::FunctionAnalysisManager& analyses_;
  std::map<std::pair<double, std::size_t>, Call> calls_;
  std::size_t met_ = 0;
};

std::unique_ptr<llvm::InlineOrder<Call>> create_order(llvm::FunctionAnalysisManager& analyses,
                                                      const llvm::InlineParams&,
                                                      llvm::ModuleAnalysisManager&, llvm::Module&) {
  return std::make_unique<Order>(analyses);
}

}  // namespace

void register_call_rules(llvm::ModuleAnalysisManager& analyses) {
  if (Decisions::get().inline_call)
    analyses.registerPass([] { return llvm::PluginInlineAdvisorAnalysis(create_advisor); });
  if (Decisions::get().order)
    analyses.registerPass([] { return llvm::PluginInlineOrderAnalysis(create_order); });
}

}  // namespace compiler_gym::linker
