// Values of LLVM's command-line options, as `-name=value` writes them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace compiler_gym::llvm {

using OptionValues = std::vector<std::pair<std::string, std::string>>;

}  // namespace compiler_gym::llvm
