#include "choosing/gate.h"

#include <llvm/IR/LLVMContext.h>

#include "choosing/settings.h"

namespace compiler_gym::linker {

Gate::Gate(llvm::LLVMContext& context) : context_(context), before_(context.getOptPassGate()) {
  context.setOptPassGate(*this);
}

Gate::~Gate() { context_.setOptPassGate(before_); }

void Gate::watch(const llvm::Module& module) {
  settings_.clear();
  for (const llvm::Function& function : module)
    if (const Setting* setting = find_setting(function); setting && !setting->skipped.empty())
      settings_[function.getName()] = setting;
}

bool Gate::shouldRunPass(llvm::StringRef pass, llvm::StringRef unit) const {
  if (before_.isEnabled() && !before_.shouldRunPass(pass, unit)) return false;
  if (!unit.consume_front("function (") || !unit.consume_back(")")) return true;
  const auto found = settings_.find(unit);
  return found == settings_.end() || !llvm::is_contained(found->second->skipped, pass);
}

}  // namespace compiler_gym::linker
