// A thread in which no file can be opened.
#pragma once

#include <functional>

namespace compiler_gym::llvm {

// Runs `work` in a thread of its own, for which the kernel refuses to open files, to connect and
// to start programs. What `work` throws is thrown here. Returns false, and runs nothing, where the
// kernel does not do that.
bool run_without_files(const std::function<void()>& work);

}  // namespace compiler_gym::llvm
