// A kept PassBuilder with its analysis managers, for one module.
#pragma once

#include <memory>
#include <string>

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

  // Throws PipelineError before anything has run.
  ::llvm::ModulePassManager parse(const std::string& pipeline);

  // Run the passes and forget every analysis, so that what comes next depends
  // on the IR alone.
  void run(::llvm::Module& module, ::llvm::ModulePassManager passes);

  ::llvm::PassBuilder& builder() { return builder_; }
  // For analyses and callbacks beside those of PassBuilder, before anything has run.
  ::llvm::ModuleAnalysisManager& modules() { return modules_; }
  ::llvm::FunctionAnalysisManager& functions() { return functions_; }
  ::llvm::PassInstrumentationCallbacks& callbacks() { return callbacks_; }

 private:
  std::unique_ptr<::llvm::TargetMachine> machine_;
  ::llvm::PassInstrumentationCallbacks callbacks_;
  // Destroyed in reverse: outer analyses hold proxies into inner ones.
  ::llvm::LoopAnalysisManager loops_;
  ::llvm::FunctionAnalysisManager functions_;
  ::llvm::CGSCCAnalysisManager components_;
  ::llvm::ModuleAnalysisManager modules_;
  ::llvm::PassBuilder builder_;
};

}  // namespace compiler_gym::llvm
