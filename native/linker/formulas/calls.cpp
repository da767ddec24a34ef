#include "formulas/calls.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/InlineAdvisor.h>
#include <llvm/Analysis/InlineCost.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Module.h>
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

class Advisor : public llvm::InlineAdvisor {
 public:
  Advisor(llvm::Module& module, llvm::FunctionAnalysisManager& analyses,
          const llvm::InlineParams& parameters, llvm::InlineContext context)
      : InlineAdvisor(module, analyses, context),
        standard_(module, analyses, parameters, context) {}

 private:
  std::unique_ptr<llvm::InlineAdvice> getAdviceImpl(llvm::CallBase&) override;
  std::optional<int> estimate(llvm::CallBase&);

  llvm::DefaultInlineAdvisor standard_;
};

// Assumptions are not kept: a pass that finds some already may do another thing than without us.
std::optional<int> Advisor::estimate(llvm::CallBase& call) {
  auto& target = FAM.getResult<llvm::TargetIRAnalysis>(*call.getCalledFunction());
  std::map<llvm::Function*, std::unique_ptr<llvm::AssumptionCache>> caches;
  const auto find = [&](llvm::Function& function) -> llvm::AssumptionCache& {
    auto& cache = caches[&function];
    if (!cache) cache = std::make_unique<llvm::AssumptionCache>(function, &target);
    return *cache;
  };
  return llvm::getInliningCostEstimate(call, target, find);
}

std::unique_ptr<llvm::InlineAdvice> Advisor::getAdviceImpl(llvm::CallBase& call) {
  auto standard = standard_.getAdvice(call);
  llvm::Function& caller = *call.getCaller();
  llvm::Function& callee = *call.getCalledFunction();
  llvm::OptimizationRemarkEmitter& remarks = getCallerORE(call);
  if (&caller == &callee || caller.getInstructionCount() > most_instructions ||
      getMandatoryKind(call, FAM, remarks) != MandatoryInliningKind::NotMandatory ||
      !llvm::isInlineViable(callee).isSuccess())
    return standard;
  const auto cost = estimate(call);
  if (!cost) return standard;
  const bool own = standard->isInliningRecommended();
  double constants = 0;
  for (const llvm::Use& argument : call.args()) constants += llvm::isa<llvm::Constant>(argument);
  const double inputs[] = {double(own),
                           double(*cost),
                           double(callee.getInstructionCount()),
                           double(callee.size()),
                           count_calls(callee),
                           double(callee.getNumUses()),
                           double(callee.hasLocalLinkage() && !callee.hasAddressTaken()),
                           double(caller.getInstructionCount()),
                           double(caller.size()),
                           double(call.arg_size()),
                           constants,
                           double(!call.use_empty())};
  const bool wanted = (*Decisions::get().inline_call)(inputs) > 0;
  if (wanted == own || !Switches::get().spend()) return standard;
  Switches::get().count(wanted ? "inline" : "no-inline",
                        (callee.getName() + " in " + caller.getName()).str());
  standard->recordUnattemptedInlining();
  return std::make_unique<llvm::InlineAdvice>(this, call, remarks, wanted);
}

llvm::InlineAdvisor* create_advisor(llvm::Module& module, llvm::FunctionAnalysisManager& analyses,
                                    llvm::InlineParams parameters, llvm::InlineContext context) {
  return new Advisor(module, analyses, parameters, context);
}

}  // namespace

void register_call_advisor(llvm::ModuleAnalysisManager& analyses) {
  if (Decisions::get().inline_call)
    analyses.registerPass([] { return llvm::PluginInlineAdvisorAnalysis(create_advisor); });
}

}  // namespace compiler_gym::linker
