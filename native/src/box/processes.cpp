#include "processes.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace compiler_gym::box {

namespace {

// Add the processes that a thread has started; the kernel lists them by the page.
void add_children_of_thread(Seen& seen, pid_t process, pid_t thread) {
  char path[64], text[4096];
  std::snprintf(path, sizeof path, "/proc/%d/task/%d/children", process, thread);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  pid_t pid = 0;
  for (ssize_t length; (length = read(file, text, sizeof text)) > 0;) {
    for (const char* at = text; at < text + length; ++at) {
      if (*at >= '0' && *at <= '9') {
        pid = 10 * pid + (*at - '0');
      } else {
        seen.add(pid);
        pid = 0;
      }
    }
  }
  seen.add(pid);
  close(file);
}

void add_children(Seen& seen, pid_t process) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/task", process);
  each_number(path, [&](int thread) { add_children_of_thread(seen, process, thread); });
}

bool read_use(Use& use, pid_t thread, const char* path) {
  char text[4096];
  if (!read_text(path, text, sizeof text)) return false;
  const auto bytes = [&](const char* name) {
    const long long kilobytes = number_after(text, name);
    return kilobytes > 0 ? kilobytes * 1024 : 0;
  };
  use.thread = thread;
  use.resident = bytes("\nVmRSS:");
  use.others = bytes("\nVmPTE:") + bytes("\nVmSwap:") + bytes("\nHugetlbPages:");
  if (const long long threads = number_after(text, "\nThreads:"); threads > 1)
    use.threads = static_cast<long>(threads);
  return std::strstr(text, "\nVmRSS:") != nullptr;
}

}  // namespace

void Seen::add(pid_t pid) {
  if (pid <= 0 || pid >= most_number || count >= most) return;
  unsigned char& byte = marks_[pid / 8];
  const auto bit = static_cast<unsigned char>(1U << (pid % 8));
  if (byte & bit) return;
  byte |= bit;
  all[count++] = pid;
}

void Seen::clear() {
  for (int i = 0; i < count; ++i) marks_[all[i] / 8] = 0;
  count = 0;
}

void look(Seen& seen, bool is_shared) {
  seen.clear();
  if (!is_shared) {
    each_number("/proc", [&](int pid) {
      if (pid > 1) seen.add(pid);
    });
    return;
  }
  add_children(seen, getpid());
  for (int i = 0; i < seen.count; ++i) add_children(seen, seen.all[i]);
}

Use use_of(pid_t pid) {
  char path[64];
  Use use;
  std::snprintf(path, sizeof path, "/proc/%d/status", pid);
  if (read_use(use, pid, path) || use.threads == 1) return use;
  std::snprintf(path, sizeof path, "/proc/%d/task", pid);
  bool is_read = false;
  each_number(path, [&](int thread) {
    char name[64];
    std::snprintf(name, sizeof name, "/proc/%d/task/%d/status", pid, thread);
    is_read = is_read || read_use(use, thread, name);
  });
  return use;
}

long long proportional_bytes(pid_t pid, const Use& use) {
  char path[64], text[2048];
  std::snprintf(path, sizeof path, "/proc/%d/task/%d/smaps_rollup", pid, use.thread);
  if (!read_text(path, text, sizeof text)) return use.resident;
  const long long kilobytes = number_after(text, "\nPss:");
  return kilobytes < 0 ? use.resident : kilobytes * 1024;
}

long read_text(const char* path, char* text, std::size_t size) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t length = read(file, text, size - 1);
  close(file);
  text[length > 0 ? length : 0] = 0;
  return length > 0 ? length : 0;
}

long long number_after(const char* text, const char* name) {
  const char* at = std::strstr(text, name);
  return at ? std::atoll(at + std::strlen(name)) : -1;
}

}  // namespace compiler_gym::box
