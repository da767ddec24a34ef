// The same IR for another machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class Module;
}

namespace compiler_gym::llvm {

// The machines that this build makes code for: "x86_64" first, then those it was built with of
// "aarch64" and "riscv64".
std::vector<std::string> machines();

// The machine among them that a triple or the name of a processor means; empty for none. What
// they have in common is 64 bits, the least significant byte first, and ELF.
std::string machine_of(std::string_view triple);

// The processor whose cycles are counted for one of `machines()`. Throws InitError for another.
std::string simulated_processor(const std::string& machine);

// Make `module`, which is for x86-64 or for no machine, one for the machine or triple `target`:
// its triple and data layout and the processor that its functions name become what clang writes
// for that triple. The instructions stay. Return whether anything changed: a module
// that is for that machine already is left as it is.
//
// Throws InitError, and changes nothing, for a target that is none of `machines()` and for a
// module that means nothing elsewhere: one with inline assembly, intrinsics or types of x86, ...
bool retarget(::llvm::Module& module, const std::string& target);

}  // namespace compiler_gym::llvm
