// The cores of this machine, as far as the kernel lets a thread choose among them.
#pragma once

#include <vector>

namespace compiler_gym::service {

// The core that this thread is on, or -1 where nobody can say.
int current_core();

// The cores that this thread may use. Its own comes last: it is busy until the thread sleeps.
std::vector<int> cores_of_thread();

// Lets a process run on one core only. Returns whether that is allowed.
bool bind_process(int pid, int core);

// Lets a process and its threads run where this thread may. Returns whether that is allowed.
bool free_process(int pid);

}  // namespace compiler_gym::service
