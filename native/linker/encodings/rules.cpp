#include "encodings/rules.h"

#include <llvm/Support/DynamicLibrary.h>
#include <llvm/Support/raw_ostream.h>
#include <cstdlib>

namespace compiler_gym::linker {
namespace {

constexpr Rule rules[] = {
    {"pop-stack", pop_stack},
    {"push-stack", push_stack},
    {"early-zero", early_zero},
    {"byte-constant", byte_constant},
    {"store-zero", store_zero},
    {"compare-one", compare_one},
    {"exchange", exchange},
    {"push-move", push_move},
    {"packed-single", packed_single},
    {"swap-registers"},
    {"shift-frame"},
    {"share-save"},
    {"share-restore"},
};

}  // namespace

llvm::ArrayRef<Rule> all_rules() { return rules; }

Rule load_rule(const std::string& path) {
  std::string problem;
  auto library = llvm::sys::DynamicLibrary::getPermanentLibrary(path.c_str(), &problem);
  void* const rewrite = library.isValid() ? library.getAddressOfSymbol("rewrite") : nullptr;
  if (!rewrite) {
    llvm::errs() << "compiler_gym_size: no function rewrite in '" << path << "' " << problem
                 << '\n';
    std::exit(1);
  }
  return {"own", reinterpret_cast<decltype(Rule::rewrite)>(rewrite)};
}

}  // namespace compiler_gym::linker
