#include "users.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace compiler_gym::box {

namespace {

constexpr unsigned to_become = 1U << CAP_SETUID | 1U << CAP_SETGID | 1U << CAP_CHOWN;
constexpr unsigned to_mount = 1U << CAP_SYS_ADMIN;
constexpr unsigned to_look = 1U << CAP_SYS_PTRACE;
constexpr unsigned unmapped = ~0U;

unsigned powers() {
  struct {
    unsigned version;
    int pid;
  } header{0x20080522, 0};
  unsigned found[6] = {};
  return syscall(SYS_capget, &header, found) ? 0 : found[0];
}

// Return the number of `inside` in the parent namespace.
unsigned map_outside(const char* map, unsigned inside) {
  char text[4096] = {};
  const int file = open(map, O_RDONLY | O_CLOEXEC);
  if (file < 0) return unmapped;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  unsigned first = 0, outside = 0, count = 0;
  int used = 0;
  const char* at = length > 0 ? text : "";
  for (; std::sscanf(at, "%u %u %u%n", &first, &outside, &count, &used) == 3; at += used)
    if (first <= inside && inside - first < count) return outside + (inside - first);
  return unmapped;
}

bool put(int folder, const char* path, const char* text) {
  const int file = openat(folder, path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool done = write(file, text, std::strlen(text)) > 0;
  const int error = errno;
  close(file);
  errno = error;
  return done;
}

}  // namespace

bool can_become_nobody() {
  return geteuid() == 0 && (powers() & to_become) == to_become &&
         map_outside("/proc/self/uid_map", nobody) != unmapped &&
         map_outside("/proc/self/gid_map", nobody) != unmapped;
}

bool can_inspect_others() { return powers() & to_look; }

Identity identify(bool keeps_user) {
  const User self{geteuid(), getegid()}, other{nobody, nobody};
  const bool may_mount = powers() & to_mount;
  if (keeps_user) return {self, false, !may_mount, false};
  if (can_become_nobody()) return {other, true, !may_mount, false};
  // The caller is mapped to nobody in the box: that is equally safe only if the caller is not root.
  return {other, false, true, map_outside("/proc/self/uid_map", self.user) == 0};
}

bool map_users(int processes, pid_t pid, const char* users, const char* groups) {
  char path[64];
  std::snprintf(path, sizeof path, "%d/uid_map", pid);
  if (!put(processes, path, users)) return false;
  std::snprintf(path, sizeof path, "%d/gid_map", pid);
  return put(processes, path, groups);
}

bool map_first(pid_t pid, const Identity& who) {
  char path[64], users[64], groups[64];
  const int processes = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (who.is_other) {  // the first process is root, and its program runs as nobody
    std::snprintf(users, sizeof users, "0 %u 1\n%u %u 1", geteuid(), nobody, nobody);
    std::snprintf(groups, sizeof groups, "0 %u 1\n%u %u 1", getegid(), nobody, nobody);
  } else {
    std::snprintf(path, sizeof path, "%d/setgroups", pid);
    put(processes, path, "deny");
    std::snprintf(users, sizeof users, "%u %u 1", who.user.user, geteuid());
    std::snprintf(groups, sizeof groups, "%u %u 1", who.user.group, getegid());
  }
  const bool done = map_users(processes, pid, users, groups);
  const int error = errno;
  close(processes);
  errno = error;
  return done;
}

}  // namespace compiler_gym::box
