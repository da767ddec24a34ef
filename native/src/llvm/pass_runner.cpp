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

// opt skips optional passes on functions with optnone, through an instrumentation that PassBuilder
// does not register by itself.
bool may_run_on(::llvm::StringRef, ::llvm::Any unit) {
  const ::llvm::Function* function = nullptr;
  if (const auto* held = ::llvm::any_cast<const ::llvm::Function*>(&unit)) {
    function = *held;
  } else if (const auto* loop = ::llvm::any_cast<const ::llvm::Loop*>(&unit)) {
    function = (*loop)->getHeader()->getParent();
  }
  return !function || !function->hasOptNone();
}

// Like ModuleToFunctionPassAdaptor, but visits the chosen functions alone. Required passes ignore
// may_run_on, so that is not the place to skip a function.
struct ChosenFunctionsPassAdaptor : ::llvm::PassInfoMixin<ChosenFunctionsPassAdaptor> {
  ::llvm::PreservedAnalyses run(::llvm::Module& module, ::llvm::ModuleAnalysisManager& modules) {
    auto& analyses =
        modules.getResult<::llvm::FunctionAnalysisManagerModuleProxy>(module).getManager();
    for (auto* function : functions) {
      analyses.invalidate(*function, passes.run(*function, analyses));
    }
    return ::llvm::PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }

  ::llvm::FunctionPassManager passes;
  std::vector<::llvm::Function*> functions;
};

}  // namespace

struct PassRunner::Parts {
  Parts(std::unique_ptr<::llvm::TargetMachine> target, const ::llvm::PipelineTuningOptions& tuning)
      : machine(std::move(target)), builder(machine.get(), tuning) {}

  std::unique_ptr<::llvm::TargetMachine> machine;
  ::llvm::PassInstrumentationCallbacks callbacks;
  // Destroyed in reverse: outer analyses hold proxies into inner ones.
  ::llvm::LoopAnalysisManager loops;
  ::llvm::FunctionAnalysisManager functions;
  ::llvm::CGSCCAnalysisManager components;
  ::llvm::ModuleAnalysisManager modules;
  ::llvm::PassBuilder builder;
  // The passes that are running.
  ::llvm::ModulePassManager passes;
};

PassRunner::PassRunner(std::unique_ptr<::llvm::TargetMachine> machine, const ::llvm::Triple& triple,
                       const ::llvm::PipelineTuningOptions& tuning,
                       void (*extend)(::llvm::PassBuilder&))
    : parts_(make_fragile<Parts>(std::move(machine), tuning)) {
  auto& parts = *parts_;
  parts.callbacks.registerShouldRunOptionalPassCallback(may_run_on);
  // The first registration of an analysis wins, so ours precede PassBuilder's.
  const auto instrument = [&parts](auto& analyses) {
    analyses.registerPass(
        [&parts] { return ::llvm::PassInstrumentationAnalysis(&parts.callbacks); });
  };
  instrument(parts.modules);
  instrument(parts.components);
  instrument(parts.functions);
  instrument(parts.loops);
  parts.functions.registerPass([library = ::llvm::TargetLibraryInfoImpl(triple)] {
    return ::llvm::TargetLibraryAnalysis(library);
  });
  // Plug-ins register analyses in callbacks of the builder, which must exist by now.
  if (extend) extend(parts.builder);
  parts.builder.registerModuleAnalyses(parts.modules);
  parts.builder.registerCGSCCAnalyses(parts.components);
  parts.builder.registerFunctionAnalyses(parts.functions);
  parts.builder.registerLoopAnalyses(parts.loops);
  parts.builder.crossRegisterProxies(parts.loops, parts.functions, parts.components, parts.modules);
  register_codegen_pass(parts.builder);
}

PassRunner::~PassRunner() = default;
PassRunner::PassRunner(PassRunner&&) noexcept = default;

::llvm::PassBuilder& PassRunner::builder() { return parts_->builder; }
::llvm::ModuleAnalysisManager& PassRunner::modules() { return parts_->modules; }
::llvm::FunctionAnalysisManager& PassRunner::functions() { return parts_->functions; }
::llvm::PassInstrumentationCallbacks& PassRunner::callbacks() { return parts_->callbacks; }

::llvm::ModulePassManager PassRunner::parse(const std::string& pipeline) {
  ::llvm::ModulePassManager passes;
  if (auto refusal = builder().parsePassPipeline(passes, pipeline)) {
    throw PipelineError(::llvm::toString(std::move(refusal)));
  }
  return passes;
}

::llvm::ModulePassManager PassRunner::parse_on(const std::string& pipeline,
                                               std::vector<::llvm::Function*> functions) {
  ChosenFunctionsPassAdaptor chosen;
  if (auto refusal = builder().parsePassPipeline(chosen.passes, pipeline)) {
    throw PipelineError("only passes of functions and loops can run on chosen functions: " +
                        ::llvm::toString(std::move(refusal)));
  }
  chosen.functions = std::move(functions);
  ::llvm::ModulePassManager passes;
  passes.addPass(std::move(chosen));
  return passes;
}

void PassRunner::run(::llvm::Module& module, ::llvm::ModulePassManager passes) {
  const UsualOptions usual;
  auto& parts = *parts_;
  parts.passes = std::move(passes);
  try {
    parts.passes.run(module, parts.modules);
  } catch (const GivenUp&) {
    throw;
  } catch (const std::exception& error) {
    throw FatalError(std::string("a pass threw an exception: ") + error.what());
  }
  parts.passes = ::llvm::ModulePassManager();
  parts.modules.clear();
  parts.components.clear();
  parts.functions.clear();
  parts.loops.clear();
}

}  // namespace compiler_gym::llvm
