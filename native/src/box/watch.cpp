#include "watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "calls.h"
#include "filter.h"
#include "landlock.h"
#include "program.h"

namespace compiler_gym::box {

namespace {

// How often the limits are looked at that the kernel does not keep.
constexpr double tick_seconds = 0.05;
// How long what was killed may take to end.
constexpr double patience_seconds = 10;
// The share of the machine's memory that is left free, whoever uses it.
constexpr double least_free = 0.03;
constexpr int most_seen = 8192;
constexpr unsigned long most_files = 90000;

double seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Reads a small file of /proc; returns its length.
long read_text(const char* path, char* text, std::size_t size) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t length = read(file, text, size - 1);
  close(file);
  text[length > 0 ? length : 0] = 0;
  return length > 0 ? length : 0;
}

long long number_after(const char* text, const char* name) {
  const char* found = std::strstr(text, name);
  return found ? std::atoll(found + std::strlen(name)) : -1;
}

// The processes that a box holds besides its watcher.
struct Seen {
  pid_t all[most_seen];
  int count = 0;

  void add(pid_t pid) {
    if (count < most_seen) all[count++] = pid;
  }
};

void add_children(Seen& seen, pid_t parent) {
  char path[64], text[1 << 15];
  std::snprintf(path, sizeof path, "/proc/%d/task/%d/children", parent, parent);
  if (!read_text(path, text, sizeof text)) return;
  for (char* at = text; *at;) {
    char* end = nullptr;
    const long pid = std::strtol(at, &end, 10);
    if (end == at) return;
    seen.add(static_cast<pid_t>(pid));
    add_children(seen, static_cast<pid_t>(pid));
    at = end + (*end == ' ');
  }
}

void add_namespace(Seen& seen) {
  DIR* entries = opendir("/proc");
  if (!entries) return;
  while (const dirent* entry = readdir(entries)) {
    const int pid = std::atoi(entry->d_name);
    if (pid > 1) seen.add(pid);
  }
  closedir(entries);
}

void look(Seen& seen, const Place& place) {
  seen.count = 0;
  place.is_first ? add_namespace(seen) : add_children(seen, getpid());
}

long long resident_bytes(pid_t pid) {
  char path[64], text[256];
  std::snprintf(path, sizeof path, "/proc/%d/statm", pid);
  if (!read_text(path, text, sizeof text)) return 0;
  const char* second = std::strchr(text, ' ');
  return second ? std::atoll(second) * sysconf(_SC_PAGESIZE) : 0;
}

// What a process uses, with its share of what it has in common with others.
long long proportional_bytes(pid_t pid) {
  char path[64], text[2048];
  std::snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
  if (!read_text(path, text, sizeof text)) return resident_bytes(pid);
  const long long found = number_after(text, "\nPss:");
  return found < 0 ? resident_bytes(pid) : found * 1024;
}

long long scratch_bytes(const Orders& orders, const Place& place) {
  struct statfs found{};
  if (!place.is_first || orders.work || fstatfs(place.scratch, &found)) return 0;
  return static_cast<long long>(found.f_blocks - found.f_bfree) * found.f_bsize;
}

bool uses_too_much(const Orders& orders, const Place& place, const Seen& seen) {
  if (orders.tree_bytes == 0) return false;
  long long total = scratch_bytes(orders, place);
  for (int i = 0; i < seen.count; ++i) total += resident_bytes(seen.all[i]);
  if (total <= orders.tree_bytes) return false;
  total = scratch_bytes(orders, place);
  for (int i = 0; i < seen.count; ++i) total += proportional_bytes(seen.all[i]);
  return total > orders.tree_bytes;
}

bool is_machine_full() {
  char text[512];
  if (!read_text("/proc/meminfo", text, sizeof text)) return false;
  const long long all = number_after(text, "MemTotal:");
  const long long left = number_after(text, "MemAvailable:");
  return all > 0 && left >= 0 && static_cast<double>(left) < least_free * static_cast<double>(all);
}

bool is_full(const struct statfs& found) {
  return found.f_bfree == 0 || found.f_ffree == 0 || found.f_files - found.f_ffree > most_files;
}

bool is_scratch_full(const Orders& orders, const Place& place) {
  struct statfs found{};
  if (!place.is_first || orders.work || fstatfs(place.scratch, &found)) return false;
  if (is_full(found)) return true;
  if (orders.tier != Tier::inside) return false;
  // Somebody else made these, each with a size of its own.
  return (statfs("/tmp", &found) == 0 && is_full(found)) ||
         (statfs("/dev/shm", &found) == 0 && is_full(found));
}

// What a folder that has no size of its own holds, links not followed.
long long folder_bytes(int folder, int depth) {
  const int listed = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* entries = listed < 0 ? nullptr : fdopendir(listed);
  if (!entries) {
    if (listed >= 0) close(listed);
    return 0;
  }
  long long total = 0;
  while (const dirent* entry = readdir(entries)) {
    const char* name = entry->d_name;
    if (!std::strcmp(name, ".") || !std::strcmp(name, "..")) continue;
    struct stat found{};
    if (fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW)) continue;
    total += found.st_blocks * 512LL;
    if (!S_ISDIR(found.st_mode) || depth == 0) continue;
    const int below = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below < 0) continue;
    total += folder_bytes(below, depth - 1);
    close(below);
  }
  closedir(entries);
  return total;
}

bool is_folder_full(const Orders& orders, const Place& place) {
  return !place.is_first && folder_bytes(place.scratch, 200) > orders.scratch_bytes;
}

const char* passed(const Orders& orders, const Place& place, double until) {
  static Seen seen;
  if (seconds_now() >= until) return "time";
  look(seen, place);
  if (seen.count > orders.processes) return "processes";
  if (uses_too_much(orders, place, seen) || is_machine_full()) return "memory";
  return is_scratch_full(orders, place) || is_folder_full(orders, place) ? "output" : nullptr;
}

// How one run went.
struct Ended {
  int status = 0;
  bool is_known = false;
  double seconds = 0;
  rusage used{};
  const char* stopped_by = nullptr;
};

void take(Ended& ended, pid_t program, double started) {
  for (;;) {
    int status = 0;
    rusage used{};
    const pid_t pid = wait4(-1, &status, WNOHANG, &used);
    if (pid <= 0) return;
    if (pid != program) continue;
    ended.seconds = seconds_now() - started;
    ended.status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    ended.used = used;
    ended.is_known = true;
  }
}

// Ends everything that is left. In a namespace one signal reaches all; elsewhere they are stopped
// first, so that none starts others while we look.
void end_all(Ended& ended, const Place& place, pid_t program, double started) {
  static Seen seen;
  const double until = seconds_now() + patience_seconds;
  for (timespec pause{0, 200'000}; seconds_now() < until; nanosleep(&pause, nullptr)) {
    if (place.is_first) {
      kill(-1, SIGKILL);
    } else {
      int count = -1;
      for (look(seen, place); seen.count > count; look(seen, place)) {
        count = seen.count;
        for (int i = 0; i < seen.count; ++i) kill(seen.all[i], SIGSTOP);
      }
      for (int i = 0; i < seen.count; ++i) kill(seen.all[i], SIGKILL);
    }
    take(ended, program, started);
    siginfo_t left{};
    if (waitid(P_ALL, 0, &left, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD) return;
  }
}

void wait_for(Ended& ended, const Orders& orders, const Place& place, pid_t program,
              double started) {
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  // A program may signal the first process of its namespace: nobody else asks it to end.
  if (!place.is_first) sigaddset(&awaited, SIGTERM);
  const double until = started + orders.seconds;
  double next = started + tick_seconds;
  for (;;) {
    const double now = seconds_now();
    double left = (next < until ? next : until) - now;
    if (left < 0) left = 0;
    const timespec timeout{static_cast<time_t>(left),
                           static_cast<long>((left - static_cast<long>(left)) * 1e9)};
    const int found = sigtimedwait(&awaited, nullptr, &timeout);
    take(ended, program, started);
    if (ended.is_known) return;
    if (found == SIGTERM) {  // who asked is no more
      ended.stopped_by = "its client";
      return;
    }
    if (seconds_now() < next && seconds_now() < until) continue;
    next = seconds_now() + tick_seconds;
    ended.stopped_by = passed(orders, place, until);
    if (ended.stopped_by) return;
  }
}

// What the program left says more of it than how it ended.
const char* passed_at_its_end(const Orders& orders, const Place& place) {
  static Seen seen;
  look(seen, place);
  if (seen.count + 1 >= orders.processes) return "processes";
  return is_scratch_full(orders, place) || is_folder_full(orders, place) ? "output" : nullptr;
}

void write_all(int to, const char* text, int length) {
  while (length > 0) {
    const ssize_t written = write(to, text, static_cast<std::size_t>(length));
    if (written <= 0) return;
    text += written;
    length -= static_cast<int>(written);
  }
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

void report(const Orders& orders, const Ended& ended) {
  char text[256];
  const double cpu = seconds_of(ended.used.ru_utime) + seconds_of(ended.used.ru_stime);
  const int length =
      std::snprintf(text, sizeof text, "ended %d %.9f %.6f %ld %s\n", ended.status, ended.seconds,
                    cpu, ended.used.ru_maxrss, ended.stopped_by ? ended.stopped_by : "-");
  write_all(orders.report, text, length);
}

// The program's user is one of a namespace of its own, so that its processes are counted apart.
bool map_user(const Place& place, pid_t program) {
  const auto put = [&](const char* name, const char* text) {
    char path[64];
    std::snprintf(path, sizeof path, "%d/%s", program, name);
    const int file = openat(place.writable_processes, path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return false;
    const bool done = write(file, text, std::strlen(text)) > 0;
    close(file);
    return done;
  };
  char users[64], groups[64];
  std::snprintf(users, sizeof users, "%u %u 1", place.user.user, place.user.user);
  std::snprintf(groups, sizeof groups, "%u %u 1", place.user.group, place.user.group);
  return put("uid_map", users) && put("gid_map", groups);
}

}  // namespace

void report_failure(const Orders& orders, const char* what, int error) {
  char text[512];
  const int length = std::snprintf(text, sizeof text, "failed %d %s%s%s\n", error, what,
                                   error ? ": " : "", error ? std::strerror(error) : "");
  write_all(orders.report, text, length);
}

pid_t start_child(const Orders& orders, unsigned long long flags) {
  CloneArguments arguments{};
  arguments.flags = flags;
  arguments.exit_signal = SIGCHLD;
  if (orders.group >= 0) {
    arguments.flags |= into_group;
    arguments.cgroup = static_cast<std::uint64_t>(orders.group);
  }
  return static_cast<pid_t>(syscall(435, &arguments, sizeof arguments));
}

int watch(const Orders& orders, const Place& place) {
  int told[2], ready[2];
  if (pipe2(told, O_CLOEXEC) || pipe2(ready, O_CLOEXEC)) {
    report_failure(orders, "pipe", errno);
    return 0;
  }
  const bool is_mapped = place.writable_processes >= 0;
  const pid_t program =
      place.is_first ? start_child({}, is_mapped ? CLONE_NEWUSER : 0) : start_child(orders, 0);
  if (program == 0) {
    close(ready[1]);
    become_program(orders, place, told[1], ready[0]);
  }
  close(told[1]);
  close(ready[0]);
  if (program < 0 || (is_mapped && !map_user(place, program))) {
    report_failure(orders, "start a process", errno);
    return 0;
  }
  close(ready[1]);
  Told said{};
  double started = seconds_now();
  const bool is_told = read(told[0], &said, sizeof said) == sizeof said;
  if (is_told && said.failed[0] == 0) started = said.started;
  if (is_told && read(told[0], &said, sizeof said) == sizeof said) {  // it could not be started
    report_failure(orders, said.failed, said.error);
    return 0;
  }
  Ended ended;
  wait_for(ended, orders, place, program, started);
  if (ended.is_known && !ended.stopped_by) ended.stopped_by = passed_at_its_end(orders, place);
  if (ended.stopped_by && !ended.is_known) kill(program, SIGKILL);
  end_all(ended, place, program, started);
  if (place.is_first && orders.outputs >= 0) collect(orders, place.scratch, orders.outputs);
  report(orders, ended);
  return 0;
}

}  // namespace compiler_gym::box
