// Change the target of IR.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class Module;
}

namespace compiler_gym::llvm {

// The machines for which this build generates code: "x86_64" first, then "aarch64" and "riscv64" if
// they were built in.
std::vector<std::string> machines();

// The machine among them for a triple or a processor's name; empty for none. All of them are
// 64-bit, little-endian, and use ELF.
std::string find_machine(std::string_view triple);

// The processor whose cycles are simulated for one of `machines()`. Throws InitError for any other
// machine.
std::string simulated_processor(const std::string& machine);

// Retarget `module`, which is for x86-64 or for no machine, to the machine or triple `target`: its
// triple, its data layout and the processor in its function attributes become those that clang
// writes for that triple. The instructions stay. Return whether anything changed: a module that
// is already for that machine stays unchanged.
//
// Throws InitError, and changes nothing, for a target that is not in `machines()` and for a module
// that cannot be retargeted: one with inline assembly, intrinsics or types of x86, ...
bool retarget(::llvm::Module& module, const std::string& target);

}  // namespace compiler_gym::llvm
