#include "filter.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <initializer_list>

#include "../own_architecture.h"

namespace compiler_gym::box {

namespace {

constexpr unsigned new_namespaces = 0x7E020080;  // every CLONE_NEW* that clone takes
constexpr unsigned x32_calls = 0x40000000;
constexpr unsigned fixed_addresses = 0x0040000;
// Commands of ioctl that query a terminal or a pipe: others change files, disks and screens.
constexpr unsigned query_commands[] = {0x5401 /* TCGETS */,    0x802C542A /* TCGETS2 */,
                                       0x540F /* TIOCGPGRP */, 0x5413 /* TIOCGWINSZ */,
                                       0x541B /* FIONREAD */,  0x5421 /* FIONBIO */,
                                       0x5450 /* FIONCLEX */,  0x5451 /* FIOCLEX */};

// Call that change the machine, inspect other processes, or acquire new privileges.
constexpr int refused[] = {
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unshare,
    SYS_setns,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_bpf,
    SYS_userfaultfd,
    SYS_memfd_create,
    SYS_kexec_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_quotactl,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_syslog,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_vhangup,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_fanotify_init,
    // Resources that no memory limit counts: queues, semaphores, watches, rules.
    SYS_shmget,
    SYS_semget,
    SYS_msgget,
    SYS_mq_open,
    SYS_inotify_init1,
    444,
    445,
    446,  // landlock_*
#if defined(__x86_64__)
    SYS_iopl,
    SYS_ioperm,
    SYS_kexec_file_load,
    SYS_modify_ldt,
    SYS_uselib,
    SYS_ustat,
    SYS_sysfs,
    SYS_inotify_init,
#endif
    425,
    426,
    427,  // io_uring: its operations bypass filters
    428,
    429,
    430,
    431,
    432,
    433,
    442,
    467,  // the newer ways to mount
    438,  // pidfd_getfd
    443,
    447,
    457,
    458,
    459,
    460,
    461,  // quotactl_fd, memfd_secret, statmount, lsm_*
};

// Call that a program can do without: they fail as if this kernel had none of them. `clone3` passes
// its flags through a pointer: the C library falls back to `clone`. The others keep memory in a
// pipe, which no limit counts.
constexpr int missing[] = {435, SYS_vmsplice, SYS_splice, SYS_tee, SYS_io_setup};

// Call that change a file without opening it for writing: no other rule denies them to its owner.
constexpr int owner_calls[] = {
    SYS_fchown,      SYS_fchownat,     SYS_setxattr,     SYS_lsetxattr, SYS_fsetxattr,
    SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr,
#if defined(__x86_64__)
    SYS_chown,       SYS_lchown,       SYS_utime,        SYS_utimes,    SYS_futimesat,
#endif
};

// Recent calls of this kind: libraries fall back to older ones if these are missing.
constexpr int recent_owner_calls[] = {452, 463, 466, 469};  // fchmodat2, *xattrat, file_setattr

// For files in the program's folder, the watcher makes these calls: linkers and tar need them.
constexpr int own_folder_calls[] = {
    SYS_fchmod,
    SYS_fchmodat,
    SYS_utimensat,
#if defined(__x86_64__)
    SYS_chmod,
#endif
};

// Call that change other processes of the same user.
constexpr int other_process_calls[] = {SYS_sched_setaffinity, SYS_sched_setscheduler,
                                       SYS_sched_setparam, SYS_sched_setattr};

class Program {
 public:
  void add(sock_filter step) { steps_[count_++] = step; }
  void load(unsigned offset) { add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)); }
  void load_argument(int which, bool is_high = false) {
    load(offsetof(seccomp_data, args) + 8 * which + (is_high ? 4 : 0));
  }
  void load_call() { load(offsetof(seccomp_data, nr)); }
  void answer(unsigned what) { add(BPF_STMT(BPF_RET | BPF_K, what)); }

  // If the loaded word is `value`, answer `what`.
  void on(unsigned value, unsigned what) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    answer(what);
  }

  void on_each(const auto& values, unsigned what) {
    for (const auto value : values) on(static_cast<unsigned>(value), what);
  }

  // If the loaded word is at least `value`, answer `what`.
  void from(unsigned value, unsigned what) {
    add(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, value, 0, 1));
    answer(what);
  }

  // Return the descriptor that the watcher listens to, 0 without a watcher, or -1 on failure.
  int install(unsigned flags) {
    sock_fprog program{static_cast<unsigned short>(count_), steps_};
    return static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
  }

  // The number of steps to skip is set later, by `skip_to_here`.
  int skip_unless(unsigned value) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 0));
    return count_ - 1;
  }
  void skip_to_here(int from) { steps_[from].jf = static_cast<unsigned char>(count_ - from - 1); }

 private:
  sock_filter steps_[512];
  int count_ = 0;
};

constexpr unsigned denied = SECCOMP_RET_ERRNO | EPERM;
constexpr unsigned unknown = SECCOMP_RET_ERRNO | ENOSYS;
constexpr unsigned allowed = SECCOMP_RET_ALLOW;
constexpr unsigned notified = SECCOMP_RET_USER_NOTIF;

// Allow a call whose first argument is a process only for the caller itself, which is 0.
void add_for_itself(Program& program, int call) {
  const int from = program.skip_unless(static_cast<unsigned>(call));
  program.load_argument(0);
  program.on(0, allowed);
  program.answer(denied);
  program.skip_to_here(from);
}

void add_refused(Program& program, const Orders& orders, const Place& place, bool is_heard) {
  program.on_each(refused, denied);
  program.on_each(missing, unknown);
  if (!orders.may_count) program.on(SYS_perf_event_open, denied);
  // No program needs a socket, and no limit counts the data sent into one.
  for (const int call : {SYS_socket, SYS_socketpair})
    program.on(static_cast<unsigned>(call), SECCOMP_RET_ERRNO | EAFNOSUPPORT);
  program.on_each(std::initializer_list<int>{SYS_setpriority, SYS_ioprio_set}, denied);
  add_for_itself(program, SYS_prlimit64);
  if (!place.is_owner) return;
  program.on_each(owner_calls, denied);
  program.on_each(recent_owner_calls, unknown);
  program.on_each(own_folder_calls, is_heard ? notified : denied);
  for (const int call : other_process_calls) add_for_itself(program, call);
}

void add_memory(Program& program, unsigned least, int call, int argument) {
  const int from = program.skip_unless(static_cast<unsigned>(call));
  program.load_argument(argument, true);
  program.from(1, notified);
  program.load_argument(argument);
  program.from(least, notified);
  program.answer(allowed);
  program.skip_to_here(from);
}

// The rules that examine an argument; each ends by allowing or refusing its call.
void add_argument_rules(Program& program, const Orders& orders) {
  int from = program.skip_unless(SYS_clone);
  program.load_argument(0);
  program.add(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, new_namespaces, 0, 1));
  program.answer(denied);
  program.answer(allowed);
  program.skip_to_here(from);

  from = program.skip_unless(SYS_personality);
  program.load_argument(0);
  program.on(0xFFFFFFFF, allowed);
  program.on(0, allowed);
  if (orders.process_bytes == 0) program.on(fixed_addresses, allowed);  // sanitizers request it
  program.answer(denied);
  program.skip_to_here(from);

  from = program.skip_unless(SYS_fcntl);
  program.load_argument(1);
  for (const int lock : {F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW})  // no limit counts locks
    program.on(static_cast<unsigned>(lock), SECCOMP_RET_ERRNO | ENOLCK);
  program.on_each(std::initializer_list<int>{F_SETPIPE_SZ, F_SETLEASE, F_NOTIFY}, denied);
  program.answer(allowed);
  program.skip_to_here(from);

  if (orders.may_count) return;  // other commands of ioctl read the counters
  from = program.skip_unless(SYS_ioctl);
  program.load_argument(1);
  program.on_each(query_commands, allowed);
  program.answer(SECCOMP_RET_ERRNO | ENOTTY);
  program.skip_to_here(from);
}

int install(const Orders& orders, const Place& place, bool is_heard) {
  Program program;
  program.load(offsetof(seccomp_data, arch));
  // The calls of another architecture have other numbers.
  program.add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own_architecture, 1, 0));
  program.answer(SECCOMP_RET_KILL_PROCESS);
  program.load_call();
#if defined(__x86_64__)
  program.from(x32_calls, unknown);
#endif
  add_refused(program, orders, place, is_heard);
  add_argument_rules(program, orders);
  if (const unsigned least = is_heard ? notify_from(orders) : 0) {
    add_memory(program, least, SYS_mmap, 1);
    add_memory(program, least, SYS_mremap, 2);
  }
  program.answer(allowed);
  return program.install(is_heard ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0);
}

}  // namespace

unsigned notify_from(const Orders& orders) {
  const long long part = orders.process_bytes / 64, least = 1 << 20, most = 1LL << 30;
  if (orders.process_bytes == 0) return 0;
  return static_cast<unsigned>(part < least ? least : part > most ? most : part);
}

bool filter_calls(const Orders& orders, const Place& place, int* listener) {
  if (own_architecture == 0) return false;
  *listener = install(orders, place, true);
  return *listener >= 0 || install(orders, place, false) == 0;
}

}  // namespace compiler_gym::box
