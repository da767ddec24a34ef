#include "filter.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <initializer_list>

#include "../own_architecture.h"

namespace compiler_gym::box {

namespace {

constexpr unsigned new_namespaces = 0x7E020080;  // every CLONE_NEW* that clone takes
constexpr unsigned x32_calls = 0x40000000;
constexpr unsigned fixed_addresses = 0x0040000;
constexpr unsigned steal_input = 0x5412, steal_screen = 0x541C;  // TIOCSTI, TIOCLINUX

// Calls that change the machine, look into other processes, or reach for new powers.
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
    SYS_shmget,
#if defined(__x86_64__)
    SYS_iopl,
    SYS_ioperm,
    SYS_kexec_file_load,
    SYS_modify_ldt,
    SYS_uselib,
    SYS_ustat,
    SYS_sysfs,
#endif
    425,
    426,
    427,  // io_uring: calls that no filter sees
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

class Program {
 public:
  void add(sock_filter step) { steps_[count_++] = step; }
  void load(unsigned offset) { add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)); }
  void load_argument(int which) { load(offsetof(seccomp_data, args) + 8 * which); }
  void load_call() { load(offsetof(seccomp_data, nr)); }
  void answer(unsigned what) { add(BPF_STMT(BPF_RET | BPF_K, what)); }

  // If the loaded word is `value`, answer `what`.
  void on(unsigned value, unsigned what) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    answer(what);
  }

  bool install() {
    sock_fprog program{static_cast<unsigned short>(count_), steps_};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  }

  // The number of steps that are to be jumped over is known when they are there.
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

void add_refused(Program& program, const FilterOrders& orders) {
  for (const int call : refused) program.on(static_cast<unsigned>(call), denied);
  if (!orders.may_count) program.on(SYS_perf_event_open, denied);
  if (!orders.is_apart) {  // what these make outlives the program
    for (const int call : {SYS_semget, SYS_msgget, SYS_mq_open})
      program.on(static_cast<unsigned>(call), denied);
  }
  program.on(435, unknown);  // clone3 hides its flags behind a pointer: the library takes clone
}

// The rules that look at an argument; each ends by allowing or refusing its call.
void add_judged(Program& program, const FilterOrders& orders) {
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
  if (orders.may_fix_addresses) program.on(fixed_addresses, allowed);
  program.answer(denied);
  program.skip_to_here(from);

  from = program.skip_unless(SYS_ioctl);
  program.load_argument(1);
  program.on(steal_input, denied);
  program.on(steal_screen, denied);
  program.answer(allowed);
  program.skip_to_here(from);

  from = program.skip_unless(SYS_socket);
  program.load_argument(0);
  program.on(AF_UNIX, allowed);
  if (orders.is_apart) {
    program.on(AF_INET, allowed);
    program.on(AF_INET6, allowed);
    program.on(AF_NETLINK, allowed);
  }
  program.answer(SECCOMP_RET_ERRNO | EAFNOSUPPORT);
  program.skip_to_here(from);
}

}  // namespace

bool filter_calls(const FilterOrders& orders) {
  if (own_architecture == 0) return false;
  Program program;
  program.load(offsetof(seccomp_data, arch));
  // A call in the tongue of an older machine has other numbers.
  program.add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own_architecture, 1, 0));
  program.answer(SECCOMP_RET_KILL_PROCESS);
  program.load_call();
#if defined(__x86_64__)
  program.add(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, x32_calls, 0, 1));
  program.answer(unknown);
#endif
  add_refused(program, orders);
  add_judged(program, orders);
  program.answer(allowed);
  return program.install();
}

}  // namespace compiler_gym::box
