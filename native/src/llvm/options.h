// LLVM's command-line options. A process has them once: what is set here holds for every module.
#pragma once

#include <string>

namespace compiler_gym::llvm {

// Gives an option its value, as `-name=value` does. To give it the value it has does nothing.
// Throws UnsupportedError where this LLVM has no such option or refuses the value: what would
// follow from a question that LLVM did not hear is wrong and looks right.
void set_option(const std::string& name, const std::string& value);

}  // namespace compiler_gym::llvm
