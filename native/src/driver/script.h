// The parts of linker scripts that matter to link-time optimisation.

#pragma once

#include <string_view>

namespace compiler_gym::driver {

// Return whether the linker script `text` selects sections by file name. Files lose their names in
// link-time optimisation. True if this is not certain.
bool names_files(std::string_view text);

}  // namespace compiler_gym::driver
