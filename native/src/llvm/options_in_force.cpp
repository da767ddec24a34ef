#include "options_in_force.h"

#include "compiler_gym/llvm/errors.h"

namespace compiler_gym::llvm {
namespace {

::llvm::RegisterRegAlloc::FunctionPassCtor allocator_named(::llvm::StringRef name) {
  for (auto* one = ::llvm::RegisterRegAlloc::getList(); one != nullptr; one = one->getNext()) {
    if (one->getName() == name) return one->getCtor();
  }
  throw UnsupportedError("this LLVM has no register allocator '" + name.str() + "'");
}

// Options that llc itself reads and passes to the target machine.
bool set_in(MachineSettings& machine, const std::string& name, const std::string& value) {
  if (name == "relocation-model") {
    machine.relocation = ::llvm::Reloc::PIC_;  // the only value besides the default
  } else if (name == "align-loops") {
    machine.options.LoopAlignment = std::stoul(value);
  } else if (name == "mc-relax-all") {
    machine.options.MCOptions.MCRelaxAll = value == "true";
  } else if (name == "tailcallopt") {
    machine.options.GuaranteedTailCallOpt = value == "true";
  } else if (name == "stack-symbol-ordering") {
    machine.options.StackSymbolOrdering = value == "true";
  } else {
    return false;
  }
  return true;
}

}  // namespace

OptionsInForce::OptionsInForce(const ChosenOptions& chosen) {
  if (chosen.empty()) {
    usual_.emplace();
    return;
  }
  alone_.emplace();
  try {
    for (const auto& [name, value] : chosen) {
      if (set_in(machine_, name, value)) continue;
      if (name == "regalloc") choose_allocator(value);
      changed_.push_back(assign_option(name, value));
    }
  } catch (...) {
    put_back();
    throw;
  }
}

OptionsInForce::~OptionsInForce() { put_back(); }

// LLVM reads this option once in a process and caches the allocator: from then on the registry
// decides. If the cache were empty, the first code generated with other options would decide for
// all.
void OptionsInForce::choose_allocator(const std::string& name) {
  using ::llvm::RegisterRegAlloc;
  const auto kept = RegisterRegAlloc::getDefault();
  const auto wanted = allocator_named(name);
  allocator_ = kept != nullptr ? kept : allocator_named("default");
  RegisterRegAlloc::setDefault(wanted);
}

void OptionsInForce::put_back() {
  for (auto* const option : changed_) option->reset();
  changed_.clear();
  if (allocator_) ::llvm::RegisterRegAlloc::setDefault(*allocator_);
  allocator_.reset();
}

}  // namespace compiler_gym::llvm
