#include "closed_thread.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

#include "../own_architecture.h"

namespace compiler_gym::llvm {
namespace {

constexpr unsigned refused[] = {
#if defined(__x86_64__)
    SYS_open,   SYS_creat,  SYS_fork,    SYS_vfork,
#endif
    SYS_openat, SYS_socket, SYS_connect, SYS_execve, SYS_execveat, SYS_io_uring_setup,
    437,  // openat2
    428,  // open_tree
};

// Both apply to this thread alone.
bool close_this_thread() {
  if (own_architecture == 0) return false;
  std::vector<sock_filter> steps{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own_architecture, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
  };
  for (const unsigned call : refused) {
    steps.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    steps.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES));
  }
  steps.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  sock_fprog program{static_cast<unsigned short>(steps.size()), steps.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

bool run_without_files(const std::function<void()>& work) {
  bool is_closed = false;
  std::exception_ptr thrown;
  std::thread thread([&] {
    is_closed = close_this_thread();
    if (!is_closed) return;
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
  });
  thread.join();
  if (thrown) std::rethrow_exception(thrown);
  return is_closed;
}

}  // namespace compiler_gym::llvm
