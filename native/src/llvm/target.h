// The target machine that LLVM's tools would choose for a module.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

namespace compiler_gym::llvm {

// A machine for which code can be generated, with clang's defaults for it.
struct KnownMachine {
  const char* name;
  ::llvm::Triple::ArchType arch;
  const char* triple;
  const char* processor;
  const char* features;   // including those that choose the ABI
  const char* simulated;  // the processor whose cycles are simulated
};

const std::vector<KnownMachine>& known_machines();

// Null for an unknown machine, including any that is not 64-bit ELF.
const KnownMachine* known_machine(const ::llvm::Triple& triple);

// The processor whose cycles are simulated for `triple`. Throws UnsupportedError for an unknown
// machine.
const char* find_simulated_processor(const ::llvm::Triple& triple);

// Register the names of all targets and all of x86's parts; called by `start`.
void register_targets();

// Register the code generator for `triple`, if this build has it. Results must not depend on the
// modules that a process has read before, so every reader of a module calls this.
void prepare_target(const ::llvm::Triple& triple);

// Register the disassembler and simulator for `triple`.
void prepare_tools(const ::llvm::Triple& triple);

// Null if this build has no code generator for the module's triple: passes then run without a
// target, as in opt.
std::unique_ptr<::llvm::TargetMachine> target_machine_for(
    const ::llvm::Module& module, std::optional<::llvm::Reloc::Model> relocation = std::nullopt,
    ::llvm::CodeGenOptLevel level = ::llvm::CodeGenOptLevel::Default,
    const ::llvm::TargetOptions& options = {});

}  // namespace compiler_gym::llvm
