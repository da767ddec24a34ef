// A module as parts that link to the same module again.
//
// A part needs its neighbours, so what was local to the module is promoted: external and
// hidden. Notes in the parts say what each value was before. A comdat would lose members
// when its parts are linked, and linkonce what is not yet used: both are noted as well.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler_gym/given_up.h"
#include "llvm/IR/Module.h"

namespace compiler_gym::llvm {

// One module for each defined function, under its name, and at last one without a name
// for everything else: variables, aliases of them, constructors and inline assembly.
// `id` tells this split from others. Throws InitError where a function holds the address
// of another's block: no linker joins those.
std::vector<std::pair<std::string, Fragile<::llvm::Module>>> parts_of(::llvm::Module& module,
                                                                      std::string_view id);

// Give the values of every split that is here in full their linkage, comdat, name and
// order again. The notes of others stay: the rest of their parts may come later.
void restore_parts(::llvm::Module& module);

}  // namespace compiler_gym::llvm
