#include "target.h"

#include "llvm/MC/TargetRegistry.h"

namespace compiler_gym::llvm {

std::unique_ptr<::llvm::TargetMachine> target_machine_for(
    const ::llvm::Module& module, std::optional<::llvm::Reloc::Model> relocation,
    ::llvm::CodeGenOptLevel level, const ::llvm::TargetOptions& options) {
  const ::llvm::Triple& triple = module.getTargetTriple();
  if (triple.getArch() == ::llvm::Triple::UnknownArch) return nullptr;
  std::string unused;
  const ::llvm::Target* target = ::llvm::TargetRegistry::lookupTarget(triple, unused);
  if (!target) return nullptr;
  // No CPU and no features: both come from each function's attributes.
  return std::unique_ptr<::llvm::TargetMachine>(target->createTargetMachine(
      triple, "", "", options, relocation, module.getCodeModel(), level));
}

}  // namespace compiler_gym::llvm
