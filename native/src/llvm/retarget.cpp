#include "compiler_gym/llvm/retarget.h"

#include "compiler_gym/llvm/errors.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/TypeFinder.h"
#include "target.h"

namespace compiler_gym::llvm {
namespace {

using ::llvm::Triple;
using ::llvm::Type;

// The error for an unknown machine.
InitError no_machine(const std::string& target) {
  return InitError("'" + target + "' is not a machine with a code generator in this build: use " +
                   ::llvm::join(machines(), ", ") +
                   ", or a triple of one of them such as aarch64-unknown-linux-gnu");
}

Triple triple_of(const std::string& target) {
  const Triple triple(Triple::normalize(target));
  const auto* machine = known_machine(triple);
  if (machine == nullptr) throw no_machine(target);
  return target.find('-') == std::string::npos ? Triple(machine->triple) : triple;
}

// Types of values that other machines lack or interpret differently.
class ForeignTypes {
 public:
  // The part of `type` that is specific to x86; empty if there is none.
  std::string in(Type* type) {
    if (!seen_.insert(type).second) return "";
    if (type->isX86_FP80Ty()) return "x86's long double (x86_fp80)";
    if (type->isX86_AMXTy() || type->isPPC_FP128Ty() || type->isTargetExtTy()) {
      return "a machine-specific type";
    }
    if (type->isScalableTy()) return "scalable vectors";
    if (type->isPointerTy() && type->getPointerAddressSpace() != 0) return "address spaces";
    for (auto* part : type->subtypes()) {
      if (auto found = in(part); !found.empty()) return found;
    }
    return "";
  }

 private:
  ::llvm::SmallPtrSet<Type*, 32> seen_;  // not foreign: the first foreign type ends the search
};

bool is_of_a_machine(const ::llvm::Function& function) {
  switch (function.getIntrinsicID()) {
    case ::llvm::Intrinsic::read_register:
    case ::llvm::Intrinsic::read_volatile_register:
    case ::llvm::Intrinsic::write_register: return true;
    default: return function.isTargetIntrinsic() || function.getName().starts_with("llvm.x86.");
  }
}

bool is_of_a_machine(::llvm::CallingConv::ID convention) {
  return convention >= ::llvm::CallingConv::FirstTargetCC;
}

// The part of `instruction` that is specific to x86; empty if there is none.
std::string foreign_in(const ::llvm::Instruction& instruction, ForeignTypes& types) {
  if (auto found = types.in(instruction.getType()); !found.empty()) return found;
  for (const auto& operand : instruction.operands()) {
    if (auto found = types.in(operand->getType()); !found.empty()) return found;
  }
  const auto* call = ::llvm::dyn_cast<::llvm::CallBase>(&instruction);
  if (call == nullptr) return "";
  if (call->isInlineAsm()) return "inline assembly";
  return is_of_a_machine(call->getCallingConv()) ? "a machine-specific calling convention" : "";
}

std::string foreign_in(const ::llvm::Function& function, ForeignTypes& types) {
  if (is_of_a_machine(function)) return "a machine-specific intrinsic";
  if (is_of_a_machine(function.getCallingConv())) return "a machine-specific calling convention";
  if (auto found = types.in(function.getFunctionType()); !found.empty()) return found;
  for (const auto& instruction : ::llvm::instructions(function)) {
    if (auto found = foreign_in(instruction, types); !found.empty()) return found;
  }
  return "";
}

// Return whether a structure has the same offsets under both layouts: the IR contains offsets
// already.
bool is_laid_out_alike(::llvm::StructType* type, const ::llvm::DataLayout& before,
                       const ::llvm::DataLayout& after) {
  if (type->isOpaque()) return true;
  const auto* one = before.getStructLayout(type);
  const auto* other = after.getStructLayout(type);
  return one->getSizeInBytes() == other->getSizeInBytes() &&
         one->getMemberOffsets() == other->getMemberOffsets();
}

// The first foreign part of the module and its place; empty if there is none.
std::string foreign_in(const ::llvm::Module& module, const ::llvm::DataLayout& after) {
  if (!module.getModuleInlineAsm().empty()) return "module-level assembly";
  const auto model = module.getCodeModel();
  if (model && *model != ::llvm::CodeModel::Small) return "a code model other than small";
  ForeignTypes types;
  for (const auto& function : module) {
    const auto found = foreign_in(function, types);
    if (!found.empty()) return found + " in '" + function.getName().str() + "'";
  }
  for (const auto& variable : module.globals()) {
    auto found = types.in(variable.getValueType());
    if (found.empty()) found = types.in(variable.getType());
    if (!found.empty()) return found + " in '" + variable.getName().str() + "'";
  }
  if (module.getDataLayoutStr().empty()) return "";  // it does not depend on a layout
  ::llvm::TypeFinder structures;
  structures.run(module, /*onlyNamed=*/false);
  for (auto* type : structures) {
    if (!is_laid_out_alike(type, module.getDataLayout(), after)) {
      return "structures with another memory layout there";
    }
  }
  return "";
}

void check_can_move(const ::llvm::Module& module, const std::string& target,
                    const ::llvm::DataLayout& after) {
  const Triple& triple = module.getTargetTriple();
  const auto* from = known_machine(triple);
  const bool is_of_none = triple.getArch() == Triple::UnknownArch && !triple.isOSWindows();
  if (!is_of_none && (from == nullptr || from->arch != Triple::x86_64)) {
    throw InitError("the program targets " + triple.str() +
                    ", and only programs for x86-64 can be retargeted: compile it for " + target +
                    ", or omit the target");
  }
  const auto found = foreign_in(module, after);
  if (!found.empty()) {
    throw InitError("the program cannot be retargeted to " + target + ": it has " + found +
                    ": compile its source for that machine instead");
  }
}

void name_processor(::llvm::Module& module, const KnownMachine& machine) {
  for (auto& function : module) {
    if (function.isIntrinsic()) continue;
    const bool is_named =
        function.hasFnAttribute("target-cpu") || function.hasFnAttribute("target-features");
    if (function.isDeclaration() && !is_named) continue;
    function.removeFnAttr("tune-cpu");
    function.addFnAttr("target-cpu", machine.processor);
    function.addFnAttr("target-features", machine.features);
  }
}

}  // namespace

std::vector<std::string> machines() {
  std::vector<std::string> names;
  for (const auto& one : known_machines()) names.emplace_back(one.name);
  return names;
}

std::string find_machine(std::string_view triple) {
  const auto* machine = known_machine(Triple(Triple::normalize({triple.data(), triple.size()})));
  return machine == nullptr ? "" : machine->name;
}

std::string simulated_processor(const std::string& machine) {
  if (const auto* known = known_machine(Triple(machine))) return known->simulated;
  throw no_machine(machine);
}

bool retarget(::llvm::Module& module, const std::string& target) {
  const Triple triple = triple_of(target);
  const auto& machine = *known_machine(triple);
  if (module.getTargetTriple().getArch() == machine.arch) return false;
  const ::llvm::DataLayout layout(triple.computeDataLayout());
  check_can_move(module, target, layout);
  prepare_target(triple);
  module.setTargetTriple(triple);
  module.setDataLayout(layout);
  name_processor(module, machine);
  return true;
}

}  // namespace compiler_gym::llvm
