#include "compiler_gym/llvm/linker.h"

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/runtime.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Transforms/IPO/ExtractGV.h"
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

// Call `work` in a context of its own; a fatal error leaves that context behind.
template <class Work>
auto in_fresh_context(Work&& work) {
  auto place = std::make_unique<Workplace>();
  try {
    return work(*place);
  } catch (const FatalError& error) {
    (void)place.release();
    throw InitError(error.what());
  }
}

using Linkage = ::llvm::GlobalValue::LinkageTypes;

std::vector<std::pair<::llvm::GlobalVariable*, Linkage>> local_constants(::llvm::Module& module) {
  std::vector<std::pair<::llvm::GlobalVariable*, Linkage>> found;
  for (auto& variable : module.globals()) {
    if (!variable.isConstant() || !variable.hasLocalLinkage()) continue;
    found.emplace_back(&variable, variable.getLinkage());
  }
  return found;
}

std::string extract(std::string_view data, std::size_t position) {
  return in_fresh_context([&](Workplace& place) {
    const auto module = read_module(data, "", place.context);
    std::vector<::llvm::GlobalValue*> kept{&*std::next(module->begin(), position)};
    const auto constants = local_constants(*module);
    ::llvm::ModulePassManager passes;
    passes.addPass(::llvm::ExtractGVPass(kept, /*deleteS=*/false, /*keepConstInit=*/true));
    PassRunner runner(nullptr, module->getTargetTriple());
    runner.run(*module, std::move(passes));
    // Each part has its own copy, so that parts can be linked again.
    for (const auto& [constant, linkage] : constants) {
      if (!constant->hasInitializer()) continue;
      constant->setVisibility(::llvm::GlobalValue::DefaultVisibility);
      constant->setLinkage(linkage);
    }
    runner.run(*module, runner.parse("globaldce,strip-dead-debug-info,strip-dead-prototypes"));
    return bitcode_of(*module);
  });
}

}  // namespace

std::string link_modules(const std::vector<std::string_view>& modules) {
  if (modules.empty()) throw InitError("expected at least one module to link, found none");
  return in_fresh_context([&](Workplace& place) {
    // Named as llvm-link names it: the name is part of the bitcode.
    ::llvm::Module whole("llvm-link", place.context);
    ::llvm::Linker linker(whole);
    for (std::size_t at = 0; at < modules.size(); ++at) {
      const auto name = "module " + std::to_string(at);
      if (linker.linkInModule(read_module(modules[at], name, place.context))) {
        throw InitError(name + " does not link: " + trimmed(place.errors));
      }
    }
    return bitcode_of(whole);
  });
}

std::vector<std::pair<std::string, std::string>> split_functions(std::string_view data) {
  std::vector<std::pair<std::string, std::size_t>> defined;
  in_fresh_context([&](Workplace& place) {
    const auto module = read_module(data, "", place.context);
    std::size_t position = 0;
    for (const auto& function : *module) {
      if (!function.isDeclaration()) defined.emplace_back(function.getName(), position);
      ++position;
    }
  });
  std::vector<std::pair<std::string, std::string>> parts;
  for (const auto& [name, position] : defined) parts.emplace_back(name, extract(data, position));
  return parts;
}

std::string strip_noop_bitcasts(std::string_view data) {
  return in_fresh_context([&](Workplace& place) {
    const auto module = read_module(data, "", place.context);
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
