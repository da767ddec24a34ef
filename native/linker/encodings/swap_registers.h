#pragma once

namespace compiler_gym::linker {

class Site;

// Choose names for the registers that a function saves. Return whether the function was changed.
bool swap_registers(Site&);

}  // namespace compiler_gym::linker
