// A thread that cannot open files.
#pragma once

#include <functional>

namespace compiler_gym::llvm {

// Run `work` in a separate thread, for which the kernel refuses to open files, to connect and to
// start programs. Exceptions of `work` are rethrown here. Return false, and run nothing, if the
// kernel does not support that.
bool run_without_files(const std::function<void()>& work);

}  // namespace compiler_gym::llvm
