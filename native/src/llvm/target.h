// The target machine that the tools of LLVM would choose for a module.
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
  const char* features;   // which choose the ABI too
  const char* simulated;  // the processor whose cycles are counted
};

const std::vector<KnownMachine>& known_machines();

// Null for none. What is not ELF, or not of 64 bits, is none.
const KnownMachine* known_machine(const ::llvm::Triple& triple);

// The processor whose cycles are counted for `triple`. Throws UnsupportedError for a machine that
// is not known.
const char* simulated_processor_of(const ::llvm::Triple& triple);

// Register the names of all targets and the whole of x86's: `start` does.
void register_targets();

// Have what makes code for `triple` registered, if this build has it. Whether a process read a
// module of another machine before must not matter, so whoever reads one says so.
void prepare_target(const ::llvm::Triple& triple);

// The same for what reads machine code and simulates it.
void prepare_tools(const ::llvm::Triple& triple);

// Null when this build holds no code generator for the module's triple: passes
// then run without a target, as in opt.
std::unique_ptr<::llvm::TargetMachine> target_machine_for(
    const ::llvm::Module& module, std::optional<::llvm::Reloc::Model> relocation = std::nullopt,
    ::llvm::CodeGenOptLevel level = ::llvm::CodeGenOptLevel::Default,
    const ::llvm::TargetOptions& options = {});

}  // namespace compiler_gym::llvm
