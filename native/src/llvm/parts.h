// A module as parts that link to the same module again.
//
// A part needs its neighbours, so local symbols are promoted: they become external and hidden.
// Notes in the parts record the former state of each value. A comdat would lose members when its
// parts are linked, and linkonce would lose unused symbols: both are recorded as well.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler_gym/given_up.h"
#include "llvm/IR/Module.h"

namespace compiler_gym::llvm {

// Return one module for each defined function, under its name, and finally one without a name for
// everything else: variables and their aliases, constructors and inline assembly. `id`
// distinguishes this split from others. Throws InitError if a function holds the address of
// another's block: no linker can join those.
std::vector<std::pair<std::string, Fragile<::llvm::Module>>> parts_of(::llvm::Module& module,
                                                                      std::string_view id);

// Restore the linkage, comdat, name and order of the values of every complete split. The notes of
// incomplete ones stay: the rest of their parts may come later.
void restore_parts(::llvm::Module& module);

}  // namespace compiler_gym::llvm
