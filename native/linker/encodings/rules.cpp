#include "encodings/rules.h"

namespace compiler_gym::linker {
namespace {

constexpr Rule rules[] = {
    {"pop-stack", pop_stack},
};

}  // namespace

llvm::ArrayRef<Rule> all_rules() { return rules; }

}  // namespace compiler_gym::linker
