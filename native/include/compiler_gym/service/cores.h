// The cores that the kernel lets a thread choose from.
#pragma once

#include <vector>

namespace compiler_gym::service {

// The core on which this thread runs, or -1 if unknown.
int current_core();

// The cores that this thread may use. Its current core comes last: it is busy until the thread
// sleeps.
std::vector<int> list_thread_cores();

// Bind a process to one core. Return whether that is permitted.
bool bind_process(int pid, int core);

// Let a process and its threads run on every core of this thread. Return whether that is permitted.
bool free_process(int pid);

}  // namespace compiler_gym::service
