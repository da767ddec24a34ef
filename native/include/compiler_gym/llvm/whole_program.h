// A module that is a whole program: symbols that nothing outside it can use become local.
#pragma once

#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace compiler_gym::llvm {

// Give every definition internal linkage, as LLVM's internalize pass does, but those that
// something outside the module may use: `main`, what LLVM knows as a library's function (code
// generation may call it, and a C library the program's own), what module-level assembly names,
// what lies in a section whose bounds are named, and `keep`. Return what stays visible, in the
// module's order: with that list, opt's pass makes the same module.
//
// Throws InitError as check_whole_program does; the module is then as it was.
std::vector<std::string> internalize(::llvm::Module& module, const std::vector<std::string>& keep);

// Throw InitError where `keep` names what the module does not define, or where there is neither
// `main` nor anything to keep.
void check_whole_program(const ::llvm::Module& module, const std::vector<std::string>& keep);

}  // namespace compiler_gym::llvm
