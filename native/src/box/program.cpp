#include "program.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "calls.h"
#include "filter.h"
#include "landlock.h"

extern char** environ;

namespace compiler_gym::box {

namespace {

constexpr long long most_signals = 4096;  // including timers, each of which reserves a signal

[[noreturn]] void give_up(int channel, const char* what) {
  Message said{0, errno, {}};
  std::snprintf(said.failed, sizeof said.failed, "%s", what);
  if (write(channel, &said, sizeof said) < 0) _exit(126);
  _exit(127);
}

void limit(int which, long long soft, long long hard) {
  rlimit known{};
  getrlimit(static_cast<__rlimit_resource>(which), &known);
  const auto least = [&](long long wanted) {
    const rlim_t value = static_cast<rlim_t>(wanted);
    return known.rlim_max < value ? known.rlim_max : value;
  };
  const rlimit wanted{least(soft), least(hard)};
  setrlimit(static_cast<__rlimit_resource>(which), &wanted);
}

// The number of threads on the system: an upper bound of the per-user count that the kernel
// enforces.
long count_threads() {
  char text[128];
  const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  const ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  text[length > 0 ? length : 0] = 0;
  const char* slash = std::strchr(text, '/');
  return slash ? std::atol(slash + 1) : 4096;
}

void set_limits(const Orders& orders, const Place& place) {
  limit(RLIMIT_CORE, 0, 0);
  limit(RLIMIT_FSIZE, orders.file_bytes, orders.file_bytes);
  limit(RLIMIT_CPU, orders.cpu_seconds, orders.cpu_seconds + 1);
  limit(RLIMIT_MSGQUEUE, 1 << 20, 1 << 20);
  if (orders.process_bytes) limit(RLIMIT_AS, orders.process_bytes, orders.process_bytes);
  if (orders.tier == Tier::none) return;
  limit(RLIMIT_NOFILE, orders.open_files, orders.open_files);
  limit(RLIMIT_SIGPENDING, most_signals, most_signals);
  // One more process than the limit may start, so that the excess is seen; the first process may
  // count too.
  const long others = !place.is_first ? count_threads() : place.changes_user ? 1 : 2;
  limit(RLIMIT_NPROC, orders.processes + others, orders.processes + others);
}

// Limit the privileges that an executed program can ever gain; an ordinary user may not call this
// and does not need it.
void bound_capabilities() {
  for (int power = 0; prctl(PR_CAPBSET_DROP, power, 0, 0, 0) == 0;) ++power;
}

void drop_capabilities() {
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  struct {
    unsigned version;
    int pid;
  } header{0x20080522, 0};
  const unsigned none[6] = {};
  syscall(SYS_capset, &header, none);
}

bool become(const Place& place) {
  if (!place.changes_user) return true;
  return setgroups(0, nullptr) == 0 &&
         setresgid(place.user.group, place.user.group, place.user.group) == 0 &&
         setresuid(place.user.user, place.user.user, place.user.user) == 0;
}

void forget_signals() {
  sigset_t none;
  sigemptyset(&none);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// The caller's folder may be inaccessible to the program's user: execute the file opened before.
void run(const Orders& orders, int opened) {
  if (opened >= 0)
    syscall(SYS_execveat, opened, "", orders.command, environ, AT_EMPTY_PATH);
  else
    execve(orders.command[0], orders.command, environ);
}

void prefer_for_oom_kill() {  // the kernel kills this process first if the machine runs out of
                              // memory
  const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  if (write(file, "1000", 4) < 0) errno = 0;
  close(file);
}

// Report that the program starts, and send the descriptor of its filter.
bool send_message(int channel, const Message& said, int listener) {
  iovec text{const_cast<Message*>(&said), sizeof said};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof listener)] = {};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  if (listener >= 0) {
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    *header = {CMSG_LEN(sizeof listener), SOL_SOCKET, SCM_RIGHTS};
    std::memcpy(CMSG_DATA(header), &listener, sizeof listener);
  }
  return sendmsg(channel, &message, MSG_NOSIGNAL) == sizeof said;
}

}  // namespace

[[noreturn]] void become_program(const Orders& orders, const Place& place, int channel, int ready) {
  const bool is_bounded = orders.tier != Tier::none;
  int listener = -1;
  if (place.writable_processes >= 0) {
    char nothing;
    if (read(ready, &nothing, 1) < 0) give_up(channel, "wait");  // until the user is mapped
  }
  setfsuid(geteuid());  // the watcher may use the program's file permissions
  setfsgid(getegid());
  setsid();
  if (fchdir(place.scratch)) give_up(channel, "change to its folder");
  const int rules = is_bounded && !place.is_first ? make_rules(orders, ".") : -1;
  if (orders.directory && chdir(orders.directory)) give_up(channel, "change to its folder");
  const int opened = place.is_first || !place.changes_user ? -1 : open(orders.command[0], O_PATH);
  if (!place.is_first) prefer_for_oom_kill();
  set_limits(orders, place);
  if (is_bounded) {
    bound_capabilities();
    if (!become(place)) give_up(channel, "change the user");
    drop_capabilities();
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (is_bounded) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    enforce(rules);
    if (!filter_calls(orders, place, &listener) && (place.is_first || place.is_owner))
      give_up(channel, "filter system calls");
  }
  forget_signals();
  close_others_on_exec(3);
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const Message said{
      static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec), 0, {}};
  if (!send_message(channel, said, listener)) _exit(126);
  run(orders, opened);
  give_up(channel, "execute the program");
}

}  // namespace compiler_gym::box
