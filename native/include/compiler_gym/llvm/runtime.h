// The process-wide part of LLVM: targets and error handlers.
#pragma once

#include <string>

namespace compiler_gym::llvm {

// Register the X86 target, the names of the others and the error handlers, once per process; every
// entry point of the engine calls it.
void start();

// Set the effect of an allocation failure: end the process with
// `out_of_memory_status`, or (the default) throw std::bad_alloc.
void exit_on_out_of_memory(bool enabled);

// The version of LLVM that is linked in, such as "22.1.8".
std::string version();

inline constexpr int out_of_memory_status = 86;

}  // namespace compiler_gym::llvm
