#include "pass_runner.h"

#include "codegen_pass.h"
#include "compiler_gym/llvm/errors.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Support/Error.h"
#include "options.h"

namespace compiler_gym::llvm {
namespace {

// opt skips optional passes on functions marked optnone, through an
// instrumentation that PassBuilder does not register by itself.
bool may_run_on(::llvm::StringRef, ::llvm::Any unit) {
  const ::llvm::Function* function = nullptr;
  if (const auto* held = ::llvm::any_cast<const ::llvm::Function*>(&unit)) {
    function = *held;
  } else if (const auto* loop = ::llvm::any_cast<const ::llvm::Loop*>(&unit)) {
    function = (*loop)->getHeader()->getParent();
  }
  return !function || !function->hasOptNone();
}

}  // namespace

PassRunner::PassRunner(std::unique_ptr<::llvm::TargetMachine> machine, const ::llvm::Triple& triple,
                       const ::llvm::PipelineTuningOptions& tuning,
                       void (*extend)(::llvm::PassBuilder&))
    : machine_(std::move(machine)), builder_(machine_.get(), tuning) {
  callbacks_.registerShouldRunOptionalPassCallback(may_run_on);
  // The first registration of an analysis wins, so ours come before PassBuilder's.
  const auto instrument = [this](auto& analyses) {
    analyses.registerPass([this] { return ::llvm::PassInstrumentationAnalysis(&callbacks_); });
  };
  instrument(modules_);
  instrument(components_);
  instrument(functions_);
  instrument(loops_);
  functions_.registerPass([library = ::llvm::TargetLibraryInfoImpl(triple)] {
    return ::llvm::TargetLibraryAnalysis(library);
  });
  // Analyses of plug-ins are registered by callbacks of the builder, which must know them by now.
  if (extend) extend(builder_);
  builder_.registerModuleAnalyses(modules_);
  builder_.registerCGSCCAnalyses(components_);
  builder_.registerFunctionAnalyses(functions_);
  builder_.registerLoopAnalyses(loops_);
  builder_.crossRegisterProxies(loops_, functions_, components_, modules_);
  register_codegen_pass(builder_);
}

::llvm::ModulePassManager PassRunner::parse(const std::string& pipeline) {
  ::llvm::ModulePassManager passes;
  if (auto refusal = builder_.parsePassPipeline(passes, pipeline)) {
    throw PipelineError(::llvm::toString(std::move(refusal)));
  }
  return passes;
}

void PassRunner::run(::llvm::Module& module, ::llvm::ModulePassManager passes) {
  const UsualOptions usual;
  passes.run(module, modules_);
  modules_.clear();
  components_.clear();
  functions_.clear();
  loops_.clear();
}

}  // namespace compiler_gym::llvm
