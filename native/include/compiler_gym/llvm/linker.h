// Programs from modules and modules from programs, as bitcode.
//
// All three throw InitError for input that LLVM cannot read or put together.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace compiler_gym::llvm {

// One module of several, as llvm-link makes it.
std::string link_modules(const std::vector<std::string_view>& modules);

// One module for each defined function, under its name: the function becomes
// externally visible, constants keep their values, everything else is declared.
std::vector<std::pair<std::string, std::string>> split_functions(std::string_view data);

// The same module without the casts from a type to itself, which reading bitcode
// of the time of typed pointers leaves behind.
std::string strip_noop_bitcasts(std::string_view data);

}  // namespace compiler_gym::llvm
