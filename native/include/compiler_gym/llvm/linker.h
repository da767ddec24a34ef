// Programs from modules and modules from programs, as bitcode.
//
// All three throw InitError for input that LLVM cannot read or link.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace compiler_gym::llvm {

// Link several modules into one, like llvm-link. If all parts of a split module are among them,
// the original module is restored.
std::string link_modules(const std::vector<std::string_view>& modules);

// Return one module for each defined function, under its name, and finally one without a name for
// everything else. In the part of a function, constants keep their values and everything else is
// declared; symbols that were local to the module are visible to the other parts.
std::vector<std::pair<std::string, std::string>> split_functions(std::string_view data);

// Remove casts from a type to itself, which remain after reading old bitcode with
// typed pointers.
std::string strip_noop_bitcasts(std::string_view data);

}  // namespace compiler_gym::llvm
