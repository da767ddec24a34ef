// The linker that clang calls for a recipe or a policy. It passes clang's arguments to lld and adds
// options; it never replaces or rebuilds a file that the arguments name.

#pragma once

#include <string>

#include "recipe.h"

namespace compiler_gym::driver {

// The environment variable with which the driver passes the user's request to its linker.
constexpr const char* link_variable = "COMPILER_GYM_LINK";

// Set the variable for `request`.
void announce(const Request& request);

// Link with `arguments`, those of ld, and return the exit status. Without the variable, this is
// lld.
int link(const std::string& self, const Words& arguments);

}  // namespace compiler_gym::driver
