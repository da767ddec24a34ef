#include "compiler_gym/llvm/linker.h"

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/runtime.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/xxhash.h"
#include "parts.h"
#include "pass_runner.h"
#include "reader.h"

namespace compiler_gym::llvm {
namespace {

struct Workplace {
  Workplace() {
    start();
    collect_errors(context, errors);
  }

  std::string errors;
  ::llvm::LLVMContext context;
};

// Call `work` in a separate context.
template <class Work>
auto in_fresh_context(Work&& work) {
  try {
    const auto place = make_fragile<Workplace>();
    return work(*place);
  } catch (const FatalError& error) {
    throw InitError(error.what());
  }
}

// Remove the parts of a module that a single function does not need.
constexpr char unneeded[] = "globaldce,strip-dead-debug-info,strip-dead-prototypes";

std::string identity_of(std::string_view data) {
  return std::to_string(::llvm::xxh3_64bits(::llvm::StringRef(data.data(), data.size())));
}

}  // namespace

std::string link_modules(const std::vector<std::string_view>& modules) {
  if (modules.empty()) throw InitError("no modules to link: pass at least one");
  return in_fresh_context([&](Workplace& place) {
    // The same name as in llvm-link: it is part of the bitcode.
    const auto whole = make_fragile<::llvm::Module>("llvm-link", place.context);
    const auto linker = make_fragile<::llvm::Linker>(*whole);
    for (std::size_t at = 0; at < modules.size(); ++at) {
      const auto name = "module " + std::to_string(at);
      if (linker->linkInModule(read_module(modules[at], name, place.context))) {
        throw InitError(name + " does not link: " + trimmed(place.errors));
      }
    }
    restore_parts(*whole);
    return bitcode_of(*whole);
  });
}

std::vector<std::pair<std::string, std::string>> split_functions(std::string_view data) {
  return in_fresh_context([&](Workplace& place) {
    const Fragile<::llvm::Module> module = read_module(data, "", place.context);
    PassRunner runner(nullptr, module->getTargetTriple());
    std::vector<std::pair<std::string, std::string>> written;
    for (const auto& [name, part] : parts_of(*module, identity_of(data))) {
      if (!name.empty()) runner.run(*part, runner.parse(unneeded));
      written.emplace_back(name, bitcode_of(*part));
    }
    return written;
  });
}

std::string strip_noop_bitcasts(std::string_view data) {
  return in_fresh_context([&](Workplace& place) {
    const Fragile<::llvm::Module> module = read_module(data, "", place.context);
    for (auto& function : *module) {
      for (auto& block : function) {
        for (auto& instruction : ::llvm::make_early_inc_range(block)) {
          auto* cast = ::llvm::dyn_cast<::llvm::BitCastInst>(&instruction);
          if (!cast || cast->getSrcTy() != cast->getDestTy()) continue;
          cast->replaceAllUsesWith(cast->getOperand(0));
          cast->eraseFromParent();
        }
      }
    }
    return bitcode_of(*module);
  });
}

}  // namespace compiler_gym::llvm
