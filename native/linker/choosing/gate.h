// Skips optional passes of the code generator for single functions.
#pragma once

#include <llvm/ADT/StringMap.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/OptBisect.h>

namespace compiler_gym::linker {

struct Setting;

// Legacy passes ask the gate of their context with the name of the function, not with the function.
class Gate : public llvm::OptPassGate {
 public:
  // Replace the context's gate, which is still consulted first.
  explicit Gate(llvm::LLVMContext&);
  ~Gate() override;

  // Follow the settings of the functions in this module only.
  void watch(const llvm::Module&);

  bool isEnabled() const override { return !settings_.empty() || before_.isEnabled(); }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef unit) const override;

 private:
  llvm::LLVMContext& context_;
  llvm::OptPassGate& before_;
  llvm::StringMap<const Setting*> settings_;
};

}  // namespace compiler_gym::linker
