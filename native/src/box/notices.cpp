#include "notices.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "calls.h"

namespace compiler_gym::box {

namespace {

constexpr std::uint64_t page = 4096;

// Report once which call of this watcher was refused: the program only learns that its call failed.
void report_refusal(const char* calls, int error) {
  static bool is_said = false;
  if (is_said || (error != EPERM && error != EACCES && error != ENOSYS)) return;
  is_said = true;
  dprintf(STDERR_FILENO,
          "the sandbox 'limits' cannot change the mode or the times of a file: %s: %s: let the "
          "container trace its own processes (`--cap-add SYS_PTRACE`, kernel.yama.ptrace_scope at "
          "most 1)\n",
          calls, std::strerror(error));
}

// Copy `size` bytes at `from` in the process `pid`; return whether that succeeded. Some containers
// refuse the system call, others the file.
bool read_memory(pid_t pid, std::uint64_t from, void* to, std::size_t size) {
  const iovec here{to, size}, there{reinterpret_cast<void*>(from), size};
  if (process_vm_readv(pid, &here, 1, &there, 1, 0) == static_cast<ssize_t>(size)) return true;
  if (errno == EFAULT || errno == ESRCH) return false;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/mem", pid);
  const int memory = open(path, O_RDONLY | O_CLOEXEC);
  const bool is_read = memory >= 0 && pread(memory, to, size, static_cast<off_t>(from)) ==
                                          static_cast<ssize_t>(size);
  const int error = errno;
  if (memory >= 0) close(memory);
  if (!is_read) report_refusal("process_vm_readv and /proc/PID/mem", error);
  errno = error;
  return is_read;
}

bool read_path(pid_t pid, std::uint64_t from, char* to, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    std::size_t part = page - (from + done) % page;  // the next page may be unmapped
    if (part > size - done) part = size - done;
    if (!read_memory(pid, from + done, to + done, part)) return false;
    if (std::memchr(to + done, 0, part)) return true;
    done += part;
  }
  return false;
}

// Open the file of descriptor `number` of the process, or its current folder.
int open_descriptor(pid_t pid, int number) {
  char path[64];
  if (number == AT_FDCWD)
    std::snprintf(path, sizeof path, "/proc/%d/cwd", pid);
  else
    std::snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, number);
  return open(path, O_PATH | O_CLOEXEC);
}

int open_target(pid_t pid, int folder, std::uint64_t path, bool follows) {
  char name[4096];
  const int at = open_descriptor(pid, folder);
  if (at < 0 || path == 0) return at;
  // A link below /proc/self would resolve to this process.
  OpenHow how{static_cast<std::uint64_t>(O_PATH | O_CLOEXEC | (follows ? 0 : O_NOFOLLOW)), 0,
              no_magic};
  int found = -1;
  if (read_path(pid, path, name, sizeof name)) {
    found = static_cast<int>(syscall(437, at, name, &how, sizeof how));
    // Older container filters do not know this call. The target of such a link is then changed only
    // if it is below the program's folder.
    if (found < 0 && (errno == ENOSYS || errno == EPERM))
      found = openat(at, name, static_cast<int>(how.flags));
  }
  const int error = errno;
  close(at);
  errno = error;
  return found;
}

// Return whether this is a file or a folder below `folder` without another name elsewhere.
bool is_below(int file, int folder) {
  char link[64], outer[4096], inner[4096];
  const auto name = [&](int of, char* text) {
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", of);
    const ssize_t length = readlink(link, text, 4095);
    text[length > 0 ? length : 0] = 0;
    return length > 0;
  };
  struct stat found{};
  if (!name(folder, outer) || !name(file, inner) || fstat(file, &found)) return false;
  if (!S_ISDIR(found.st_mode) && !(S_ISREG(found.st_mode) && found.st_nlink <= 1)) return false;
  const std::size_t length = std::strlen(outer);
  return !std::strncmp(outer, inner, length) && (inner[length] == '/' || inner[length] == 0);
}

// Return the error of the call, or 0.
int change(const seccomp_notif& call, const Place& place) {
  const auto& words = call.data.args;
  const pid_t pid = static_cast<pid_t>(call.pid);
  int folder = static_cast<int>(words[0]);
  std::uint64_t path = words[1], mode = words[2];
  bool follows = true;
  timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
  if (call.data.nr == SYS_utimensat) {
    follows = !(words[3] & AT_SYMLINK_NOFOLLOW);
    if (words[2] && !read_memory(pid, words[2], times, sizeof times)) return EFAULT;
  } else if (call.data.nr == SYS_fchmod) {
    path = 0, mode = words[1];
#if defined(__x86_64__)
  } else if (call.data.nr == SYS_chmod) {
    folder = AT_FDCWD, path = words[0], mode = words[1];
#endif
  }
  const int file = open_target(pid, folder, path, follows);
  if (file < 0) return errno;
  int error = EPERM;
  if (is_below(file, place.scratch)) {
    char name[64];  // an O_PATH descriptor has only this name
    std::snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    const bool done = call.data.nr == SYS_utimensat
                          ? utimensat(AT_FDCWD, name, times, 0) == 0
                          : chmod(name, static_cast<mode_t>(mode) & 0777) == 0;
    error = done ? 0 : errno;
  }
  close(file);
  return error;
}

// Return whether the request exceeds the address space that the process may have.
bool exceeds_address_space(const seccomp_notif& call, const Orders& orders) {
  const std::uint64_t asked = call.data.args[call.data.nr == SYS_mmap ? 1 : 2];
  if (asked > static_cast<std::uint64_t>(orders.process_bytes)) return true;
  char path[64], text[64] = {};
  std::snprintf(path, sizeof path, "/proc/%u/statm", call.pid);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  if (read(file, text, sizeof text - 1) < 0) text[0] = 0;
  close(file);
  const std::uint64_t used = std::strtoull(text, nullptr, 10) * sysconf(_SC_PAGESIZE);
  return used + asked > static_cast<std::uint64_t>(orders.process_bytes);
}

}  // namespace

bool answer_call(int listener, const Orders& orders, const Place& place) {
  seccomp_notif call{};
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call)) return false;  // the process has ended
  seccomp_notif_resp answer{call.id, 0, 0, 0};
  const bool is_memory = call.data.nr == SYS_mmap || call.data.nr == SYS_mremap;
  const bool is_refused = is_memory && exceeds_address_space(call, orders);
  if (is_memory)
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;  // the kernel decides; this only takes note
  else
    answer.error = -change(call, place);
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  return is_refused;
}

}  // namespace compiler_gym::box
