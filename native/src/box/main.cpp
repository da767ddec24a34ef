// A box for one program: started by compiler_gym.sandbox, which says what it may do. It ends with
// whoever asked for it, and everything that the program started ends with it.

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "calls.h"
#include "orders.h"
#include "root.h"
#include "watch.h"

namespace compiler_gym::box {

namespace {

// The number that systems give to nobody.
constexpr uid_t nobody = 65534;

constexpr unsigned long long apart =
    CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;

bool is_almighty() {
  struct {
    unsigned version;
    int pid;
  } header{0x20080522, 0};
  unsigned found[6] = {};
  if (geteuid() != 0 || syscall(SYS_capget, &header, found)) return false;
  const unsigned needed =
      1U << CAP_SYS_ADMIN | 1U << CAP_SETUID | 1U << CAP_SETGID | 1U << CAP_CHOWN;
  return (found[0] & needed) == needed;
}

// Returns whether the parent lives; when it ends, `signal` comes.
bool end_with_parent(const Orders& orders, int signal) {
  prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0);
  return getppid() == orders.parent;
}

// Whether this container has a user of that number.
bool has_nobody() {
  char text[4096] = {};
  const int file = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
  if (file < 0 || read(file, text, sizeof text - 1) < 0) return false;
  close(file);
  unsigned inside = 0, outside = 0, count = 0;
  int used = 0;
  for (const char* at = text; std::sscanf(at, "%u %u %u%n", &inside, &outside, &count, &used) == 3;
       at += used)
    if (inside <= nobody && nobody - inside < count) return true;
  return false;
}

bool put(const char* path, const char* text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool done = write(file, text, std::strlen(text)) > 0;
  const int error = errno;
  close(file);
  errno = error;
  return done;
}

bool map_self(User user) {
  char text[64];
  put("/proc/self/setgroups", "deny");
  std::snprintf(text, sizeof text, "%u %u 1", user.group, user.group);
  if (!put("/proc/self/gid_map", text)) return false;
  std::snprintf(text, sizeof text, "%u %u 1", user.user, user.user);
  return put("/proc/self/uid_map", text);
}

int failed(const Orders& orders, const char* what) {
  report_failure(orders, what, errno);
  return 0;
}

// The first process of the new namespaces.
int be_first(const Orders& orders, User user, bool is_root) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  umask(022);
  if (!is_root && !map_self(user)) return failed(orders, "map the user");
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  Place place{user, is_root && user.user != 0, true, -1, -1};
  if (const char* what = build_root(orders, user, is_root ? &place.writable_processes : nullptr))
    return failed(orders, what);
  place.scratch = open(orders.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (place.scratch < 0) return failed(orders, "open the scratch folder");
  if (sethostname("box", 3)) errno = 0;
  if (orders.inputs >= 0 && !copy_into(orders.inputs, place.scratch, user))
    return failed(orders, "copy the input files");
  return watch(orders, place);
}

int run_apart(const Orders& orders) {
  const bool is_root = is_almighty();
  User user{geteuid(), getegid()};
  if (is_root && !orders.keeps_user && has_nobody()) user = {nobody, nobody};
  const pid_t first = start_child(orders, apart | (is_root ? 0ULL : CLONE_NEWUSER));
  if (first < 0) return failed(orders, "make namespaces");
  if (first == 0) _exit(be_first(orders, user, is_root));
  int status = 0;
  while (waitpid(first, &status, 0) < 0 && errno == EINTR) continue;
  if (status) report_failure(orders, "the box ended before its program", 0);
  return 0;
}

// Whether `user` may work in the current folder; root may see what others may not.
bool may_work_here(User user) {
  setfsuid(user.user);
  setfsgid(user.group);
  const int found = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool may = found >= 0 && faccessat(found, "..", X_OK, AT_EACCESS) == 0;
  if (found >= 0) close(found);
  setfsuid(geteuid());
  setfsgid(getegid());
  return may;
}

// No namespaces: what the program starts is found because it comes to us when its parent ends.
int run_here(const Orders& orders) {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  const int scratch = open(orders.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (scratch < 0 || fchdir(scratch)) return failed(orders, "open the scratch folder");
  Place place{{geteuid(), getegid()}, false, false, -1, scratch};
  const User other{nobody, nobody};
  if (orders.tier == Tier::limits && !orders.keeps_user && is_almighty() && has_nobody()) {
    if (give_folder(scratch, other) && may_work_here(other)) {
      place = {other, true, false, -1, scratch};
    } else {
      give_folder(scratch, place.user);
    }
  }
  // To become somebody else, if only to look at files, is to be told no more of the parent's end.
  if (!end_with_parent(orders, SIGTERM)) return 1;
  return watch(orders, place);
}

// Somebody else has made the namespaces; this is the first process in them.
int run_inside(const Orders& orders) {
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  const User user{geteuid(), getegid()};
  Place place{user, false, true, -1, open(orders.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (place.scratch < 0) return failed(orders, "open the scratch folder");
  if (orders.inputs >= 0 && !copy_into(orders.inputs, place.scratch, user))
    return failed(orders, "copy the input files");
  return watch(orders, place);
}

int run(const Orders& orders) {
  const bool is_apart = orders.tier == Tier::namespaces;
  if (orders.tier != Tier::inside && !end_with_parent(orders, is_apart ? SIGKILL : SIGTERM))
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
  // What a box is tried with: this program, which does nothing.
  if (count == 2 && !std::strcmp(words[1], "nothing")) return 0;
  return compiler_gym::box::run(compiler_gym::box::read_orders(count, words));
}
