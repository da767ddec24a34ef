// Linker scripts, as far as they matter to link-time optimisation.

#pragma once

#include <string_view>

namespace compiler_gym::driver {

// Return whether the linker script `text` chooses sections by the names of their files. Files lose
// their names in link-time optimisation. True where this is not certain.
bool names_files(std::string_view text);

}  // namespace compiler_gym::driver
