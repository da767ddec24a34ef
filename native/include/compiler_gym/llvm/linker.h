// Programs from modules and modules from programs, as bitcode.
//
// All three throw InitError for input that LLVM cannot read or put together.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace compiler_gym::llvm {

// One module of several, as llvm-link makes it. The parts of a module that was split, where
// all are among them, become what they were.
std::string link_modules(const std::vector<std::string_view>& modules);

// One module for each defined function, under its name, and at last one without a name for
// everything else. In the part of a function, constants keep their values and the rest is
// declared; what was local to the module is visible to the other parts.
std::vector<std::pair<std::string, std::string>> split_functions(std::string_view data);

// The same module without the casts from a type to itself, which reading bitcode
// of the time of typed pointers leaves behind.
std::string strip_noop_bitcasts(std::string_view data);

}  // namespace compiler_gym::llvm
