// The linker that clang calls for a recipe or a policy. It passes clang's arguments on to lld and
// adds its own; it never replaces or rebuilds anything that the arguments name.

#pragma once

#include <string>

#include "recipe.h"

namespace compiler_gym::driver {

// The environment variable by which the driver tells its linker what the user asked for.
constexpr const char* link_variable = "COMPILER_GYM_LINK";

// Set the variable for `request`.
void announce(const Request& request);

// Link by `arguments`, those of ld, and return the exit status. Without the variable, this is lld.
int link(const std::string& self, const Words& arguments);

}  // namespace compiler_gym::driver
