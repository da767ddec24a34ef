// The entry point of the plug-in, called by the linker or compiler that loads the shared object.

#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/PassInfo.h>
#include <llvm/PassRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Plugins/PassPlugin.h>
#include <llvm/Target/RegisterTargetPassConfigCallback.h>
#include <llvm/Target/TargetMachine.h>

#include "choosing/pass.h"
#include "choosing/settings.h"
#include "encodings/pass.h"
#include "encodings/rules.h"
#include "encodings/share_frames.h"
#include "encodings/shift_frame.h"
#include "formulas/calls.h"
#include "formulas/decisions.h"
#include "formulas/functions.h"
#include "switches.h"

namespace compiler_gym::linker {
namespace {

// The first pass after the machine outliner that always runs. The rules come after the outliner
// because they would make equal sequences differ, and before the pass that completes CFI.
constexpr llvm::StringLiteral after_outliner = "x86-seses";

void add_machine_passes(llvm::TargetMachine& machine, llvm::PassManagerBase& manager,
                        llvm::TargetPassConfig& passes) {
  const llvm::Triple& triple = machine.getTargetTriple();
  if (triple.getArch() != llvm::Triple::x86_64 || !triple.isOSBinFormatELF() || triple.isX32())
    return;
  if (Decisions::get().frame || Decisions::get().outline) manager.add(create_functions_pass());
  // With IPRA, the code of a function depends on other functions, so it cannot be compiled alone.
  if ((Decisions::get().choose || Switches::get().effort()) && !machine.Options.EnableIPRA) {
    if (!Switches::is_trial) manager.add(create_choosing_pass(machine));
    follow_settings(passes);
  }
  // Before the offsets of variables, which depend on the frame pointer, are computed.
  passes.insertPass(&llvm::MachineBlockPlacementID, create_shift_frame_pass());
  if (const auto* place = llvm::PassRegistry::getPassRegistry()->getPassInfo(after_outliner)) {
    passes.insertPass(place->getTypeInfo(), create_encodings_pass());
    passes.insertPass(place->getTypeInfo(), create_share_frames_pass());
  }
}

const llvm::RegisterTargetPassConfigCallback callback([](llvm::TargetMachine& machine,
                                                         llvm::PassManagerBase& manager,
                                                         llvm::TargetPassConfig* passes) {
  add_machine_passes(machine, manager, *passes);
});

// Adds frame pointers to functions that call others and were compiled without: their entries in the
// unwind table become smaller.
struct AddFrames : llvm::PassInfoMixin<AddFrames> {
  static bool isRequired() { return true; }
  static llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    constexpr llvm::StringLiteral name = "frame-pointer";
    for (llvm::Function& function : module) {
      const llvm::StringRef before = function.getFnAttribute(name).getValueAsString();
      if (!function.isDeclaration() && (before.empty() || before == "none"))
        function.addFnAttr(name, "non-leaf-no-reserve");
    }
    return llvm::PreservedAnalyses::all();
  }
};

// The passes of a link start at one of two points: the default one, or the one for
// --lto-newpm-passes.
void add_ir_passes(llvm::PassBuilder& builder) {
  const auto add = [](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
    passes.addPass(AddFrames());
  };
  if (Switches::get().frames().empty()) return;
  builder.registerFullLinkTimeOptimizationEarlyEPCallback(add);
  builder.registerPipelineStartEPCallback(add);
}

// Report mistakes before the compilation starts.
void check_environment() {
  llvm::SmallVector<llvm::StringRef> names;
  for (const Rule& rule : all_rules()) names.push_back(rule.name);
  for (const Setting& setting : all_settings()) names.push_back(setting.name);
  Switches::get().check_rules(names);
  Decisions::get();
}

}  // namespace
}  // namespace compiler_gym::linker

extern "C" __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  compiler_gym::linker::check_environment();
  return {LLVM_PLUGIN_API_VERSION, "compiler_gym_size", "1", [](llvm::PassBuilder& builder) {
            builder.registerAnalysisRegistrationCallback(compiler_gym::linker::register_call_rules);
            compiler_gym::linker::add_ir_passes(builder);
          }};
}
