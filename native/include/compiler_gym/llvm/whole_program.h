// A module that is a whole program: symbols that nothing outside it can use become local.
#pragma once

#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace compiler_gym::llvm {

// Give every definition internal linkage, as LLVM's internalize pass does, except those that code
// outside the module may use: `main`, library functions that LLVM knows (code generation may call
// them, and a C library may call the program's own), names in module-level assembly, the contents
// of sections whose bounds are named, and `keep`. Return the names that stay visible, in the
// module's order: with that list, opt's pass makes the same module.
//
// Throws InitError as check_whole_program does, and then leaves the module unchanged.
std::vector<std::string> internalize(::llvm::Module& module, const std::vector<std::string>& keep);

// Throw InitError if `keep` contains a name that the module does not define, or if there is neither
// `main` nor a name to keep.
void check_whole_program(const ::llvm::Module& module, const std::vector<std::string>& keep);

}  // namespace compiler_gym::llvm
