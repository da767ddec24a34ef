// A reusable PassBuilder with its analysis managers, for one module.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler_gym/given_up.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

namespace compiler_gym::llvm {

class PassRunner {
 public:
  // `extend` may add passes and analyses.
  PassRunner(std::unique_ptr<::llvm::TargetMachine> machine, const ::llvm::Triple& triple,
             const ::llvm::PipelineTuningOptions& tuning = {},
             void (*extend)(::llvm::PassBuilder&) = nullptr);
  ~PassRunner();
  PassRunner(PassRunner&&) noexcept;

  // Throws PipelineError before any pass runs.
  ::llvm::ModulePassManager parse(const std::string& pipeline);
  // The same for passes of functions and loops, which run on these functions alone. Throws
  // PipelineError for passes of larger units.
  ::llvm::ModulePassManager parse_on(const std::string& pipeline,
                                     std::vector<::llvm::Function*> functions);

  // Run the passes and drop all analyses, so that later runs depend on the IR alone. Exceptions of
  // a pass become FatalError, because they interrupt LLVM.
  void run(::llvm::Module& module, ::llvm::ModulePassManager passes);

  ::llvm::PassBuilder& builder();
  // For analyses and callbacks besides those of PassBuilder, before any pass runs.
  ::llvm::ModuleAnalysisManager& modules();
  ::llvm::FunctionAnalysisManager& functions();
  ::llvm::PassInstrumentationCallbacks& callbacks();

 private:
  struct Parts;
  Fragile<Parts> parts_;
};

}  // namespace compiler_gym::llvm
