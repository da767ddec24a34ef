#include "compiler_gym/llvm/whole_program.h"

#include "compiler_gym/llvm/errors.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/RuntimeLibcalls.h"
#include "llvm/Object/ModuleSymbolTable.h"
#include "llvm/Transforms/IPO/Internalize.h"

namespace compiler_gym::llvm {
namespace {

constexpr ::llvm::StringRef entry = "main";

// A name may begin with a byte that disables mangling.
::llvm::StringRef plain(::llvm::StringRef name) {
  name.consume_front("\1");
  return name;
}

bool is_defined(const ::llvm::Module& module, ::llvm::StringRef name) {
  const auto* found = module.getNamedValue(name);
  return found != nullptr && !found->isDeclaration() && !found->hasAvailableExternallyLinkage();
}

// The names that code generation or a C library may call although the IR does not mention them.
class LibraryNames {
 public:
  explicit LibraryNames(const ::llvm::Module& module)
      : library_(module.getTargetTriple()), calls_(module.getTargetTriple()) {}

  bool contains(::llvm::StringRef name) const {
    ::llvm::LibFunc function;
    return library_.getLibFunc(name, function) ||
           calls_.getSupportedLibcallImpl(name) != ::llvm::RTLIB::Unsupported;
  }

 private:
  ::llvm::TargetLibraryInfoImpl library_;
  ::llvm::RTLIB::RuntimeLibcallsInfo calls_;
};

bool has_named_bounds(const ::llvm::Module& module, const ::llvm::GlobalValue& value) {
  const auto* object = ::llvm::dyn_cast<::llvm::GlobalObject>(&value);
  if (object == nullptr || !object->hasSection()) return false;
  const auto section = object->getSection();
  return module.getNamedValue(("__start_" + section).str()) != nullptr ||
         module.getNamedValue(("__stop_" + section).str()) != nullptr;
}

}  // namespace

void check_whole_program(const ::llvm::Module& module, const std::vector<std::string>& keep) {
  for (const auto& name : keep) {
    if (is_defined(module, name)) continue;
    throw InitError(
        "'" + name +
        "' is in keep, but the module does not define it: use names of its functions or variables");
  }
  if (keep.empty() && !is_defined(module, entry)) {
    throw InitError(
        "the module defines no 'main', so the whole program would be empty: list the names "
        "that other modules use with keep=name,name");
  }
}

std::vector<std::string> internalize(::llvm::Module& module, const std::vector<std::string>& keep) {
  check_whole_program(module, keep);
  ::llvm::StringSet<> asked;
  asked.insert(entry);
  for (const auto& name : keep) asked.insert(name);
  ::llvm::ModuleSymbolTable::CollectAsmSymbols(
      module,
      [&](::llvm::StringRef name, ::llvm::object::BasicSymbolRef::Flags) { asked.insert(name); });
  const LibraryNames library(module);
  const auto is_seen = [&](const ::llvm::GlobalValue& value) {
    const auto name = plain(value.getName());
    return asked.contains(value.getName()) || asked.contains(name) || library.contains(name) ||
           has_named_bounds(module, value);
  };
  std::vector<std::string> seen;
  for (const auto& value : module.global_values()) {
    if (value.isDeclarationForLinker() || value.hasLocalLinkage()) continue;
    if (is_seen(value)) seen.push_back(value.getName().str());
  }
  ::llvm::InternalizePass(is_seen).internalizeModule(module);
  return seen;
}

}  // namespace compiler_gym::llvm
