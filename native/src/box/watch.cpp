#include "watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>

#include "calls.h"
#include "disk.h"
#include "notices.h"
#include "processes.h"
#include "program.h"

namespace compiler_gym::box {

namespace {

// The interval between checks of the limits that the kernel does not enforce.
constexpr double tick_seconds = 0.05;
// The time that killed processes may take to end.
constexpr double patience_seconds = 10;
// The share of the machine's memory that must stay free, whichever process uses it.
constexpr double least_free = 0.03;
constexpr unsigned long most_files = 90000;
// The kernel memory for a file in memory, besides its contents.
constexpr long long inode_bytes = 1024;

Seen seen;
// The contents of the folder before the program ran, which do not count.
Held held_before;

double seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

long long scratch_bytes(const Orders& orders, const Place& place) {
  struct statfs found{};
  if (!place.is_first || orders.work || fstatfs(place.scratch, &found)) return 0;
  return static_cast<long long>(found.f_blocks - found.f_bfree) * found.f_bsize +
         static_cast<long long>(found.f_files - found.f_ffree) * inode_bytes;
}

// Return the limit that all processes together exceed, or null.
const char* find_exceeded_total(const Orders& orders, const Place& place) {
  static Use used[Seen::most];
  long threads = 0;
  const long long scratch = scratch_bytes(orders, place);
  long long total = scratch, proportional = scratch;
  for (int i = 0; i < seen.count; ++i) {
    used[i] = use_of(seen.all[i]);
    threads += used[i].threads;
    total += used[i].resident + used[i].others;
  }
  if (threads > orders.processes) return "processes";
  if (orders.tree_bytes == 0 || total <= orders.tree_bytes) return nullptr;
  for (int i = 0; i < seen.count; ++i)
    proportional += used[i].others + proportional_bytes(seen.all[i], used[i]);
  return proportional > orders.tree_bytes ? "memory" : nullptr;
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
  // These were mounted outside, each with a separate size limit.
  return (statfs("/tmp", &found) == 0 && is_full(found)) ||
         (statfs("/dev/shm", &found) == 0 && is_full(found));
}

bool is_folder_full(const Orders& orders, const Place& place) {
  if (place.is_first) return false;
  const Held held =
      count_held(place.scratch, seen, place.user.user, held_before.files + most_files);
  const long long files = static_cast<long long>(held.files - held_before.files);
  if (!held.is_shown && orders.tier == Tier::limits) return true;
  return !held.is_whole || files > static_cast<long long>(most_files) ||
         held.bytes - held_before.bytes + files * inode_bytes > orders.scratch_bytes;
}

const char* passed(const Orders& orders, const Place& place, double until) {
  if (seconds_now() >= until) return "time";
  look(seen, !place.is_first);
  if (seen.count > orders.processes) return "processes";
  if (const char* limit = find_exceeded_total(orders, place)) return limit;
  if (is_machine_full()) return "memory";
  return is_scratch_full(orders, place) || is_folder_full(orders, place) ? "output" : nullptr;
}

// The outcome of one run.
struct Outcome {
  int status = 0;
  bool is_known = false;
  double seconds = 0;
  rusage used{};
  const char* stopped_by = nullptr;
  bool was_refused = false;  // the watcher saw a refused request for memory
};

void take(Outcome& ended, pid_t program, double started) {
  for (;;) {
    int status = 0;
    rusage used{};
    const pid_t pid = wait4(-1, &status, WNOHANG | __WALL, &used);
    if (pid <= 0) return;
    if (pid != program) continue;
    ended.seconds = seconds_now() - started;
    ended.status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    ended.used = used;
    ended.is_known = true;
  }
}

// End all remaining processes. In a namespace one signal reaches all; otherwise they are stopped
// first, so that none starts others while we look.
void end_all(Outcome& ended, const Place& place, pid_t program, double started) {
  const double until = seconds_now() + patience_seconds;
  for (timespec pause{0, 200'000}; seconds_now() < until; nanosleep(&pause, nullptr)) {
    if (place.is_first) {
      kill(-1, SIGKILL);
    } else {
      int count = -1;
      for (look(seen, !place.is_first); seen.count > count; look(seen, !place.is_first)) {
        count = seen.count;
        for (int i = 0; i < seen.count; ++i) kill(seen.all[i], SIGSTOP);
      }
      for (int i = 0; i < seen.count; ++i) kill(seen.all[i], SIGKILL);
    }
    take(ended, program, started);
    siginfo_t left{};
    if (waitid(P_ALL, 0, &left, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 && errno == ECHILD)
      return;
  }
}

void wait_for(Outcome& ended, const Orders& orders, const Place& place, pid_t program, int listener,
              double started) {
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  // A program may signal the first process of its namespace; no other process asks it to end.
  if (!place.is_first) sigaddset(&awaited, SIGTERM);
  pollfd heard[] = {{signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK), POLLIN, 0},
                    {listener, POLLIN, 0}};
  const double until = started + orders.seconds;
  double next = started + tick_seconds;
  while (!ended.is_known && !ended.stopped_by) {
    const double now = seconds_now();
    double left = (next < until ? next : until) - now;
    if (left < 0) left = 0;
    const timespec timeout{static_cast<time_t>(left),
                           static_cast<long>((left - static_cast<long>(left)) * 1e9)};
    const int count = ppoll(heard, 2, &timeout, nullptr);
    if (count > 0 && heard[1].revents & POLLIN)
      ended.was_refused = answer_call(listener, orders, place) || ended.was_refused;
    else if (count > 0 && heard[1].revents)
      heard[1].fd = -1;  // the other end is closed
    signalfd_siginfo got{};
    while (read(heard[0].fd, &got, sizeof got) == sizeof got)
      if (got.ssi_signo == SIGTERM) ended.stopped_by = "sandbox";  // the caller has ended
    take(ended, program, started);
    if (ended.is_known || ended.stopped_by || (seconds_now() < next && seconds_now() < until))
      continue;
    const double began = seconds_now();
    ended.stopped_by = passed(orders, place, until);
    // A check takes longer with more files: it may use a third of a processor.
    const double pause = 2 * (seconds_now() - began);
    next = began + (pause > tick_seconds ? pause : tick_seconds);
  }
  close(heard[0].fd);
}

// Return whether a program ended because it got no memory: a large request was refused, or it has
// used nearly all when a small request failed.
bool is_out_of_memory(const Orders& orders, const Outcome& ended) {
  const int signal = -ended.status;
  if (signal != SIGSEGV && signal != SIGBUS && signal != SIGABRT) return false;
  const long long used = 1024LL * ended.used.ru_maxrss;
  return orders.process_bytes > 0 && (ended.was_refused || used > orders.process_bytes / 8 * 7);
}

// The remains of a program are more reliable than its exit status.
const char* find_exceeded_at_end(const Orders& orders, const Place& place, const Outcome& ended) {
  look(seen, !place.is_first);
  if (seen.count + 1 >= orders.processes) return "processes";
  if (is_out_of_memory(orders, ended)) return "memory";
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

void report(const Orders& orders, const Outcome& ended) {
  char text[256];
  const double cpu = seconds_of(ended.used.ru_utime) + seconds_of(ended.used.ru_stime);
  const int length =
      std::snprintf(text, sizeof text, "ended %d %.9f %.6f %ld %s\n", ended.status, ended.seconds,
                    cpu, ended.used.ru_maxrss, ended.stopped_by ? ended.stopped_by : "-");
  write_all(orders.report, text, length);
}

// The program's user belongs to a separate namespace, so that its processes are counted apart.
bool map_user(const Place& place, pid_t program) {
  char users[64], groups[64];
  std::snprintf(users, sizeof users, "%u %u 1", place.user.user, place.user.user);
  std::snprintf(groups, sizeof groups, "%u %u 1", place.user.group, place.user.group);
  return map_users(place.writable_processes, program, users, groups);
}

// Read the message of the program's process and the descriptor sent with it; return whether there
// was one.
bool receive_message(int from, Message& said, int* listener) {
  iovec text{&said, sizeof said};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof *listener)] = {};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != sizeof said) return false;
  if (const cmsghdr* header = CMSG_FIRSTHDR(&message))
    std::memcpy(listener, CMSG_DATA(header), sizeof *listener);
  return true;
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
  const pid_t child = static_cast<pid_t>(syscall(435, &arguments, sizeof arguments));
  if (child >= 0 || errno != ENOSYS) return child;
  // Container filters report a missing call, so that callers use the older one.
  return static_cast<pid_t>(syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0));
}

void end_descendants() {
  Outcome ignored;
  end_all(ignored, Place{}, 0, 0);
}

int watch(const Orders& orders, const Place& place) {
  int channel[2], ready[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) || pipe2(ready, O_CLOEXEC)) {
    report_failure(orders, "pipe", errno);
    return 0;
  }
  if (!place.is_first)
    held_before =
        count_held(place.scratch, seen, place.user.user, std::numeric_limits<long>::max());
  const bool is_mapped = place.writable_processes >= 0;
  const pid_t program =
      place.is_first ? start_child({}, is_mapped ? CLONE_NEWUSER : 0) : start_child(orders, 0);
  if (program == 0) {
    close(ready[1]);
    become_program(orders, place, channel[1], ready[0]);
  }
  close(channel[1]);
  close(ready[0]);
  if (program < 0 || (is_mapped && !map_user(place, program))) {
    report_failure(orders, "start a process", errno);
    return 0;
  }
  close(ready[1]);
  Message said{};
  double started = seconds_now();
  int listener = -1;
  const bool is_received = receive_message(channel[0], said, &listener);
  if (is_received && said.failed[0] == 0) started = said.started;
  if (is_received &&
      receive_message(channel[0], said, &listener)) {  // the program could not be started
    report_failure(orders, said.failed, said.error);
    return 0;
  }
  Outcome ended;
  wait_for(ended, orders, place, program, listener, started);
  if (ended.is_known && !ended.stopped_by)
    ended.stopped_by = find_exceeded_at_end(orders, place, ended);
  if (ended.stopped_by && !ended.is_known) kill(program, SIGKILL);
  end_all(ended, place, program, started);
  if (place.is_first && orders.outputs >= 0) collect(orders, place.scratch, orders.outputs);
  report(orders, ended);
  return 0;
}

}  // namespace compiler_gym::box
