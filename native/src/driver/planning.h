// Calls with a plan of `compiler-gym tune`: the compiler runs as before, the driver records the
// command of each object, and the library performs the links that the plan names.

#pragma once

#include <string>

#include "words.h"

namespace compiler_gym::driver {

// Run the compiler with `arguments` under the plan in the file `plan`, and return the exit status.
int run_with_plan(const std::string& self, const std::string& plan, bool is_cxx,
                  const Words& arguments);

}  // namespace compiler_gym::driver
