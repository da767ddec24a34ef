// A process that does nothing while it exists.
#pragma once

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace compiler_gym::tests {

struct Child {
  Child() : pid(fork()) {
    while (pid == 0) pause();
  }
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void end() const {
    if (pid > 0) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }

  int pid;
};

// The number of cores that a process may use; 0 is this thread.
inline int cores_of(int pid) {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(pid, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : -1;
}

}  // namespace compiler_gym::tests
