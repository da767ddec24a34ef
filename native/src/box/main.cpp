// A box for one program: compiler_gym.sandbox starts it and passes the permissions. It ends with
// its parent, and everything that the program started ends with it.

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "calls.h"
#include "orders.h"
#include "root.h"
#include "users.h"
#include "watch.h"

namespace compiler_gym::box {

namespace {

constexpr unsigned long long apart =
    CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;

// Request `signal` when the parent ends; return whether the parent is still alive.
bool end_with_parent(pid_t parent, int signal) {
  prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0);
  return getppid() == parent;
}

int failed(const Orders& orders, const char* what) {
  report_failure(orders, what, errno);
  return 0;
}

// The first process of the new namespaces.
int run_first_process(const Orders& orders, const Identity& who) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  umask(022);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  Place place{who.user, who.is_other, true, false, -1, -1};
  // The kernel does not limit the processes of root, and counts those of the user nobody for the
  // whole machine: the program gets a separate user namespace.
  const bool is_apart = who.is_other || !who.needs_namespace;
  if (const char* what =
          build_root(orders, who.user, is_apart ? &place.writable_processes : nullptr))
    return failed(orders, what);
  place.scratch = open(orders.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (place.scratch < 0) return failed(orders, "open the scratch folder");
  if (sethostname("box", 3)) errno = 0;
  if (orders.inputs >= 0 && !copy_into(orders.inputs, place.scratch, who.user))
    return failed(orders, "copy the input files");
  return watch(orders, place);
}

int run_apart(const Orders& orders) {
  const Identity who = identify(orders.keeps_user);
  if (who.is_root_regardless) {
    errno = EPERM;
    return failed(orders, "become nobody");
  }
  int ready[2];
  if (pipe2(ready, O_CLOEXEC)) return failed(orders, "pipe");
  const pid_t first = start_child(orders, apart | (who.needs_namespace ? CLONE_NEWUSER : 0ULL));
  if (first < 0) return failed(orders, "make namespaces");
  if (first == 0) {
    char is_mapped = 0;
    close(ready[1]);
    _exit(read(ready[0], &is_mapped, 1) == 1 ? run_first_process(orders, who) : 0);
  }
  close(ready[0]);
  const bool is_mapped = !who.needs_namespace || map_first(first, who);
  if (!is_mapped) failed(orders, "map the user");
  if (is_mapped && write(ready[1], "1", 1) < 0) errno = 0;
  close(ready[1]);
  int status = 0;
  while (waitpid(first, &status, 0) < 0 && errno == EINTR) continue;
  if (status) report_failure(orders, "the box ended before its program", 0);
  return 0;
}

// Use the file permissions of `user`: root may read what others may not, but sees their open files
// only if it may trace them.
void assume_permissions(User user) {
  setfsgid(user.group);
  setfsuid(user.user);
}

// Return whether the user of the file permissions may work in the current folder.
bool can_work_here() {
  const int found = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool may = found >= 0 && faccessat(found, "..", X_OK, AT_EACCESS) == 0;
  if (found >= 0) close(found);
  return may;
}

// Wait for the watcher. If it is killed, its orphans become our children and are ended here.
int guard(pid_t watcher) {
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  sigaddset(&awaited, SIGTERM);
  for (;;) {
    siginfo_t got{};
    if (sigwaitinfo(&awaited, &got) == SIGTERM) kill(watcher, SIGTERM);
    int status = 0;
    const pid_t ended = waitpid(watcher, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) continue;
    end_descendants();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }
}

// Run without namespaces: orphans of the program become our children, so that they are found.
int watch_here(const Orders& orders, pid_t parent) {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  const int scratch = open(orders.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (scratch < 0 || fchdir(scratch)) return failed(orders, "open the scratch folder");
  Place place{{geteuid(), getegid()}, false, false, true, -1, scratch};
  const User other{nobody, nobody};
  if (orders.tier == Tier::limits && !orders.keeps_user && can_become_nobody()) {
    const bool is_given = give_folder(scratch, other);
    assume_permissions(other);
    const bool is_other = is_given && can_work_here();
    if (!is_other || can_inspect_others()) assume_permissions(place.user);
    if (is_other)
      place = {other, true, false, false, -1, scratch};
    else
      give_folder(scratch, place.user);
  }
  // The kernel drops the parent-death signal when the user changes, even for file access alone: set
  // it again.
  if (!end_with_parent(parent, SIGTERM)) return 1;
  return watch(orders, place);
}

int run_here(const Orders& orders) {
  // When the first process of a namespace ends, all others end, too.
  if (getpid() == 1) return watch_here(orders, orders.parent);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  const pid_t guardian = getpid(), watcher = fork();
  if (watcher < 0) return failed(orders, "start a process");
  if (watcher == 0) return watch_here(orders, guardian);
  close(orders.report);  // its end-of-file reports that the watcher has ended
  return guard(watcher);
}

// Run as the first process of namespaces that were made outside.
int run_inside(const Orders& orders) {
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  const User user{geteuid(), getegid()};
  const int scratch = open(orders.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const Place place{user, false, true, orders.work != nullptr, -1, scratch};
  if (place.scratch < 0) return failed(orders, "open the scratch folder");
  if (orders.inputs >= 0 && !copy_into(orders.inputs, place.scratch, user))
    return failed(orders, "copy the input files");
  return watch(orders, place);
}

int run(const Orders& orders) {
  const bool is_apart = orders.tier == Tier::namespaces;
  if (orders.tier != Tier::inside && !end_with_parent(orders.parent, is_apart ? SIGKILL : SIGTERM))
    return 1;
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  sigaddset(&awaited, SIGTERM);
  sigprocmask(SIG_BLOCK, &awaited, nullptr);
  fcntl(orders.report, F_SETFD, FD_CLOEXEC);
  if (is_apart) return run_apart(orders);
  return orders.tier == Tier::inside ? run_inside(orders) : run_here(orders);
}

}  // namespace

}  // namespace compiler_gym::box

int main(int count, char** words) {
  // A trial run of a box starts this program, which then does nothing.
  if (count == 2 && !std::strcmp(words[1], "nothing")) return 0;
  return compiler_gym::box::run(compiler_gym::box::read_orders(count, words));
}
