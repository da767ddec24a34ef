// The target machine that the tools of LLVM would choose for a module.
#pragma once

#include <memory>
#include <optional>

#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

namespace compiler_gym::llvm {

// Null when this build holds no code generator for the module's triple: passes
// then run without a target, as in opt.
std::unique_ptr<::llvm::TargetMachine> target_machine_for(
    const ::llvm::Module& module, std::optional<::llvm::Reloc::Model> relocation = std::nullopt,
    ::llvm::CodeGenOptLevel level = ::llvm::CodeGenOptLevel::Default,
    const ::llvm::TargetOptions& options = {});

}  // namespace compiler_gym::llvm
