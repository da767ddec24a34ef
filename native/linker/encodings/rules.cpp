#include "encodings/rules.h"

namespace compiler_gym::linker {
namespace {

constexpr Rule rules[] = {
    {"leave", leave},
    {"pop-stack", pop_stack},
    {"push-stack", push_stack},
    {"early-zero", early_zero},
    {"plain-constant", plain_constant},
    {"byte-constant", byte_constant},
    {"store-zero", store_zero},
    {"fold-address", fold_address},
    {"narrow", narrow},
    {"exchange", exchange},
    {"push-move", push_move},
    {"packed-single", packed_single},
};

}  // namespace

llvm::ArrayRef<Rule> all_rules() { return rules; }

}  // namespace compiler_gym::linker
