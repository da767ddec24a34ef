/* What a program may try against its host. The first argument names the attack; what came of
 * it is printed. Where one succeeds it does no harm: signals are SIGCONT, files are ours. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static int is(const char *name, const char *wanted) { return strcmp(name, wanted) == 0; }

static void say(const char *what, long done) { printf("%s %s\n", what, done >= 0 ? "done" : "no"); }

static int write_to(const char *path) {
  int f = open(path, O_WRONLY | O_CREAT, 0666);
  if (f < 0) return -1;
  int done = write(f, "attacked", 8) == 8 ? 0 : -1;
  close(f);
  return done;
}

static long fill(const char *path, long megabytes) {
  static char block[1 << 20];
  int f = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  long total = 0;
  memset(block, 7, sizeof block);
  if (f < 0) return -1;
  while (total < megabytes) {
    ssize_t done = write(f, block, sizeof block);
    if (done <= 0) break;
    total++;
  }
  close(f);
  return total;
}

static int reach(int family, const struct sockaddr *address, socklen_t length) {
  int s = socket(family, SOCK_STREAM, 0);
  if (s < 0) return -1;
  return connect(s, address, length);
}

static void sockets(int port, const char *abstract, const char *path) {
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
  struct sockaddr_un hidden = {.sun_family = AF_UNIX}, named = {.sun_family = AF_UNIX};
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  six.sin6_addr = in6addr_loopback;
  strcpy(hidden.sun_path + 1, abstract);
  strcpy(named.sun_path, path);
  say("IPv4", reach(AF_INET, (void *)&four, sizeof four));
  say("IPv6", reach(AF_INET6, (void *)&six, sizeof six));
  say("abstract", reach(AF_UNIX, (void *)&hidden, 3 + strlen(abstract)));
  say("path", reach(AF_UNIX, (void *)&named, sizeof named));
  int u = socket(AF_INET, SOCK_DGRAM, 0);
  say("datagram", u < 0 ? -1 : sendto(u, "x", 1, 0, (void *)&four, sizeof four));
  say("vsock", socket(40, SOCK_STREAM, 0));
}

static void daemonise(void) {
  char *arguments[] = {"sleep", "71.25", NULL}, *empty[] = {NULL};
  if (!fork()) {
    setsid();
    if (!fork()) execve("/bin/sleep", arguments, empty);
    _exit(0);
  }
  wait(NULL);
}

static void look_at(int pid) {
  char path[64], text[64];
  snprintf(path, sizeof path, "/proc/%d/environ", pid);
  int f = open(path, O_RDONLY);
  say("environment", f < 0 ? -1 : read(f, text, sizeof text));
  snprintf(path, sizeof path, "/proc/%d/mem", pid);
  say("memory", open(path, O_RDWR));
  say("ptrace", ptrace(PTRACE_ATTACH, pid, 0, 0));
  struct iovec here = {text, 8}, there = {(void *)0x400000, 8};
  say("vm", process_vm_readv(pid, &here, 1, &there, 1, 0));
  snprintf(path, sizeof path, "/proc/%d/root/etc/shadow", pid);
  say("root", open(path, O_RDONLY));
}

static void escape(void) {
  say("unshare", unshare(CLONE_NEWUSER));
  say("clone", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
  say("mount", mount("x", "/tmp", "tmpfs", 0, 0));
  say("umount", umount2("/proc", MNT_DETACH));
  say("remount", mount(0, "/usr", 0, MS_REMOUNT | MS_BIND, 0));
  say("chroot", chroot("/usr"));
  say("bpf", syscall(SYS_bpf, 0, 0, 0));
  say("keyctl", syscall(SYS_keyctl, 0, -3, 1, 0, 0));
  say("userfaultfd", syscall(SYS_userfaultfd, 1));
  say("uring", syscall(425, 1, 0));
  say("memfd", syscall(SYS_memfd_create, "x", 0));
  say("kernel", write_to("/proc/sys/kernel/core_pattern"));
  say("trigger", write_to("/proc/sysrq-trigger"));
  say("device", mknod("disk", S_IFBLK | 0600, makedev(254, 0)));
  say("handle", open_by_handle_at(0, 0, 0) == 0 ? 0 : errno == EPERM ? -1 : 0);
  say("setuid", setuid(0));
}

static void bomb(void) {
  for (;;)
    if (fork() < 0) usleep(1000);
}

static void eat(int processes, long megabytes) {
  for (int i = 1; i < processes; i++)
    if (fork() == 0) break;
  for (long i = 0; i < megabytes; i++) {
    char *part = malloc(1 << 20);
    if (!part) _exit(9);
    memset(part, i + getpid(), 1 << 20);
  }
  sleep(3);
}

/* Every call there is that changes a file without opening it for writing. */
static void metadata(const char *path) {
  struct timespec now[2] = {{0, 0}, {0, 0}};
  struct timeval then[2] = {{0, 0}, {0, 0}};
  struct { unsigned long long value; unsigned size, flags; } x = {(unsigned long)"x", 1, 0};
  unsigned long long clear[4] = {0, 0, 0, 0};
  int flags = 0x80, f = open(path, O_RDONLY);
  char named[64];
  snprintf(named, sizeof named, "/proc/self/fd/%d", f);
  say("open", f);
  say("chmod", syscall(SYS_chmod, path, 0777));
  say("fchmod", fchmod(f, 0777));
  say("fchmodat", syscall(SYS_fchmodat, AT_FDCWD, path, 0777));
  say("fchmodat2", syscall(452, f, "", 0777, AT_EMPTY_PATH));
  say("magic", chmod(named, 0777));
  say("chown", syscall(SYS_chown, path, getuid(), getgid()));
  say("lchown", lchown(path, getuid(), getgid()));
  say("fchown", fchown(f, getuid(), getgid()));
  say("fchownat", fchownat(AT_FDCWD, path, getuid(), getgid(), 0));
  say("utime", syscall(SYS_utime, path, 0));
  say("utimes", syscall(SYS_utimes, path, then));
  say("futimesat", syscall(SYS_futimesat, AT_FDCWD, path, then));
  say("utimensat", utimensat(AT_FDCWD, path, now, 0));
  say("futimens", futimens(f, now));
  say("setxattr", setxattr(path, "user.x", "x", 1, 0));
  say("lsetxattr", lsetxattr(path, "user.x", "x", 1, 0));
  say("fsetxattr", fsetxattr(f, "user.x", "x", 1, 0));
  say("setxattrat", syscall(463, AT_FDCWD, path, 0, "user.x", &x, sizeof x));
  say("removexattr", removexattr(path, "user.kept"));
  say("lremovexattr", lremovexattr(path, "user.kept"));
  say("fremovexattr", fremovexattr(f, "user.kept"));
  say("removexattrat", syscall(466, AT_FDCWD, path, 0, "user.kept"));
  say("file_setattr", syscall(469, AT_FDCWD, path, clear, sizeof clear, 0));
  say("flags", ioctl(f, 0x40086602, &flags));
  say("attributes", ioctl(f, 0x401c5820, clear));
  say("open_tree", syscall(428, AT_FDCWD, path, 1));
  say("mount_setattr", syscall(442, AT_FDCWD, path, 0, clear, sizeof clear));
  say("lease", fcntl(f, F_SETLEASE, F_RDLCK));
  say("limit", syscall(SYS_prlimit64, getppid(), RLIMIT_CORE, clear, 0));
  say("nice", setpriority(PRIO_PROCESS, getppid(), 19));
}

/* Memory that belongs to no process; each line says how many megabytes of it were had. */
static void kernel_memory(void) {
  static char block[1 << 16];
  long bytes = 0, count = 0;
  for (int pair[2]; bytes < 1L << 30 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0;)
    for (int i = 0; i < 2; i++) {
      fcntl(pair[i], F_SETFL, O_NONBLOCK);
      for (ssize_t n; (n = write(pair[i], block, sizeof block)) > 0;) bytes += n;
    }
  printf("sockets %ld\n", bytes >> 20);
  for (bytes = 0; msgget(IPC_PRIVATE, 0600) >= 0 && bytes < 1L << 30;) bytes += 16384;
  printf("messages %ld\n", bytes >> 20);
  for (bytes = 0; semget(IPC_PRIVATE, 30000, 0600) >= 0 && bytes < 1L << 30;) bytes += 30000L * 64;
  printf("semaphores %ld\n", bytes >> 20);
  for (bytes = 0; shmget(IPC_PRIVATE, 1 << 20, 0600) >= 0 && bytes < 1L << 30;) bytes += 1 << 20;
  printf("shared %ld\n", bytes >> 20);
  int f = open("locked", O_CREAT | O_RDWR, 0600);
  for (count = 2000000; count > 0; count--) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 2 * count, .l_len = 1};
    if (fcntl(f, F_SETLK, &lock)) break;
  }
  printf("locks %ld\n", (2000000 - count) * 200 >> 20);
  struct { unsigned long long files, ports; } rules = {0, 3};
  printf("rules %d\n", syscall(444, &rules, sizeof rules, 0) >= 0 ? 1 : 0);
  printf("inotify %d\n", inotify_init1(0) >= 0 ? 1 : 0);
  printf("uring %d\n", syscall(425, 1, block) >= 0 ? 1 : 0);
  printf("keys %d\n", syscall(SYS_add_key, "user", "x", block, 1000, -3) >= 0 ? 1 : 0);
  printf("memfd %d\n", syscall(SYS_memfd_create, "x", 0) >= 0 ? 1 : 0);
  printf("queues %d\n", mq_open("/x", O_CREAT | O_RDWR, 0600, 0) >= 0 ? 1 : 0);
  bytes = 0;
  for (int pair[2]; pipe2(pair, O_NONBLOCK) == 0;) {
    struct iovec part = {block, sizeof block};
    fcntl(pair[1], F_SETPIPE_SZ, 1 << 20);
    if (vmsplice(pair[1], &part, 1, SPLICE_F_NONBLOCK) > 0) puts("spliced 1");
    for (ssize_t n; (n = write(pair[1], block, sizeof block)) > 0;) bytes += n;
    close(pair[1]);
  }
  printf("pipes %ld\n", bytes >> 20);
}

/* A chain of processes, each below the one before; all stay. */
static void nest(long depth) {
  while (depth-- > 0)
    if (fork()) break;
  for (;;) pause();
}

static void take(long megabytes) {
  for (long i = 0; i < megabytes; i++) memset(malloc(1 << 20), 1, 1 << 20);
  sleep(3);
  _exit(0);
}

static void *fork_from_thread(void *megabytes) {
  for (int i = 0; i < 4; i++)
    if (!fork()) take((long)megabytes);
  sleep(3);
  return 0;
}

static void *fork_and_pause(void *count) {
  for (long i = 0; i < (long)count; i++)
    if (!fork()) for (;;) pause();
  for (;;) pause();
}

static void *take_in_thread(void *megabytes) { take((long)megabytes); return 0; }

static void in_thread(void *(*what)(void *), long argument, int leaves) {
  pthread_t made;
  pthread_create(&made, 0, what, (void *)argument);
  if (leaves) pthread_exit(0);
  pthread_join(made, 0);
}

/* Folders in folders, with `megabytes` in files at the end. */
static void deep(long depth, long megabytes) {
  char name[16];
  for (long i = 0; i < depth; i++)
    if (mkdir("d", 0755) || chdir("d")) break;
  for (long i = 0; i < megabytes / 4; i++) {
    snprintf(name, sizeof name, "f%ld", i);
    printf("%s %ld\n", name, fill(name, 4));
  }
  sleep(1);
}

/* Files without a name: open (`how` 0), open in a thread's own descriptors (1), mapped (2). */
static void *nameless(void *how) {
  static char block[1 << 20];
  if ((long)how == 1) syscall(436, 1000, 1001, 2);
  for (int i = 0; i < 60; i++) {
    int f = open("x", O_CREAT | O_RDWR, 0600);
    for (int part = 0; part < 3; part++) write(f, block, sizeof block);
    if ((long)how == 2) { mmap(0, 3 << 20, PROT_READ, MAP_SHARED, f, 0); close(f); }
    unlink("x");
    usleep(3000);
  }
  sleep(1);
  puts("had");
  return 0;
}

/* Files without a name, of a program that may be executed but not read. */
static void unreadable(const char *program) {
  static char block[1 << 20];
  int from = open(program, O_RDONLY), to = open("copy", O_CREAT | O_WRONLY, 0111);
  for (ssize_t length; (length = read(from, block, sizeof block)) > 0;) write(to, block, length);
  close(to);
  execl("copy", "copy", "nameless", "0", (char *)0);
  puts("cannot execute");
}

/* A folder that its owner cannot list. */
static void closed_folder(void) {
  char name[32];
  mkdir("c", 0300);
  for (int i = 0; i < 30; i++) {
    snprintf(name, sizeof name, "c/f%d", i);
    fill(name, 3);
  }
  sleep(1);
  puts("had");
}

/* Names of one file, holes, and a file that is written over and over. */
static void harmless(void) {
  char name[16];
  fill("f", 3);
  for (int i = 0; i < 100; i++) { snprintf(name, sizeof name, "l%d", i); link("f", name); }
  int f = open("hole", O_CREAT | O_WRONLY, 0600);
  ftruncate(f, 4 << 20);
  for (int i = 0; i < 100; i++) fill("again", 3);
  usleep(200000);
  puts("had");
}

static void *idle(void *nothing) { for (;;) pause(); }

static void threads(long wanted) {
  pthread_attr_t small;
  pthread_t made;
  long count = 0;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 1 << 14);
  while (count < wanted && pthread_create(&made, &small, idle, 0) == 0) count++;
  printf("threads %ld\n", count);
  usleep(300000);
}

static void identity(void) {
  char line[128];
  FILE *f = fopen("/proc/self/status", "r");
  printf("user %d\ngroup %d\n", geteuid(), getegid());
  while (fgets(line, sizeof line, f))
    if (!strncmp(line, "Cap", 3) || !strncmp(line, "NoNew", 5)) printf("%s", line);
}

/* What belongs to one program and is no harm. */
static void own(void) {
  mkdir("folder", 0755);
  int f = open("folder/file", O_CREAT | O_WRONLY, 0600);
  struct timespec past[2] = {{7, 0}, {7, 0}};
  struct stat found;
  say("fchmod", fchmod(f, 0640));
  say("chmod", chmod("folder/file", 04755));
  say("utimensat", utimensat(AT_FDCWD, "folder/file", past, 0));
  fstat(f, &found);
  printf("mode %o\ntime %ld\n", found.st_mode & 0777, (long)found.st_mtime);
}

/* Becomes another program below a filter like that of Docker. */
static int confine(char **command) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mount, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x7E020000, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &filter)) return 98;
  execv(command[0], command);
  return 97;
}

/* Becomes another program that is refused one call and, where it `hides`, to read a file at an
   address of memory too. */
static int refuse(int call, int error, int hides, char **command) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, hides ? SYS_pread64 : call, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3]) + 4),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error)};
  struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &filter)) return 98;
  execv(command[0], command);
  return 97;
}

int main(int count, char **words) {
  const char *name = words[1];
  setvbuf(stdout, 0, _IONBF, 0);
  if (is(name, "write")) for (int i = 2; i < count; i++) say(words[i], write_to(words[i]));
  else if (is(name, "read")) for (int i = 2; i < count; i++) say(words[i], open(words[i], O_RDONLY));
  else if (is(name, "fill")) for (int i = 3; i < count; i++)
    printf("%s %ld\n", words[i], fill(words[i], atol(words[2])));
  else if (is(name, "sockets")) sockets(atoi(words[2]), words[3], words[4]);
  else if (is(name, "signal")) {
    for (int i = 2; i < count; i++) say("one", kill(atoi(words[i]), SIGCONT));
    say("parent", kill(getppid(), SIGCONT));
    kill(-1, SIGCONT);
    for (int pid = 2; pid < 70000; pid++) if (pid != getpid()) kill(pid, SIGCONT);
  }
  else if (is(name, "parent")) { kill(getppid(), SIGSTOP); kill(getppid(), SIGKILL); usleep(50000); puts("alive"); }
  else if (is(name, "init")) { kill(1, SIGKILL); kill(1, SIGTERM); kill(getppid(), SIGTERM); syscall(SYS_reboot, 0xfee1dead, 672274793, 0x4321fedc, 0); puts("alive"); }
  else if (is(name, "daemon")) daemonise();
  else if (is(name, "look")) for (int i = 2; i < count; i++) look_at(atoi(words[i]));
  else if (is(name, "escape")) escape();
  else if (is(name, "descriptors")) { int open_ones = 0; for (int f = 3; f < 1024; f++) open_ones += write(f, "attacked", 8) > 0 || fcntl(f, F_GETFD) >= 0; printf("%d\n", open_ones); }
  else if (is(name, "forge")) { for (int f = 3; f < 1024; f++) if (write(f, "ended 0 0 0 0 -\n", 16) > 0) puts("forged"); _exit(5); }
  else if (is(name, "personality")) { say("legacy", personality(READ_IMPLIES_EXEC)); say("fixed", personality(ADDR_NO_RANDOMIZE)); }
  else if (is(name, "timers")) { struct itimerval t = {{0, 1000}, {0, 1000}}; timer_t made; struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM}; timer_create(CLOCK_MONOTONIC, &e, &made); setitimer(ITIMER_REAL, &t, 0); for (;;) pause(); }
  else if (is(name, "closed")) { for (int f = 0; f < 3; f++) close(f); int f = open("made", O_CREAT | O_WRONLY, 0644); _exit(write(1, "x", 1) < 0 && f == 0 && write(f, "made", 4) == 4 ? 3 : 4); }
  else if (is(name, "bomb")) bomb();
  else if (is(name, "confine")) return confine(words + 2);
  else if (is(name, "refuse")) return refuse(atoi(words[2]), atoi(words[3]), 0, words + 4);
  else if (is(name, "hide-memory")) return refuse(atoi(words[2]), EPERM, 1, words + 3);
  else if (is(name, "metadata")) metadata(words[2]);
  else if (is(name, "kernel")) kernel_memory();
  else if (is(name, "threads")) threads(atol(words[2]));
  else if (is(name, "identity")) identity();
  else if (is(name, "own")) own();
  else if (is(name, "grow")) { for (long i = atol(words[2]); i > 0; i--) { char *volatile part = malloc(1 << 16); memset(part, 1, 1 << 16); } puts("had"); }
  else if (is(name, "ask")) { volatile char *volatile part = malloc(atol(words[2]) << 20); part[0] = 1; puts("had"); }
  else if (is(name, "nest")) nest(atol(words[2]));
  else if (is(name, "thread-takes")) in_thread(fork_from_thread, atol(words[2]), 0);
  else if (is(name, "thread-forks")) in_thread(fork_and_pause, atol(words[2]), 0);
  else if (is(name, "first-leaves")) in_thread(take_in_thread, atol(words[2]), 1);
  else if (is(name, "deep")) deep(atol(words[2]), atol(words[3]));
  else if (is(name, "nameless")) in_thread(nameless, atol(words[2]), count > 3);
  else if (is(name, "unreadable")) unreadable(words[0]);
  else if (is(name, "closed-folder")) closed_folder();
  else if (is(name, "harmless")) harmless();
  else if (is(name, "crash")) raise(SIGSEGV);
  else if (is(name, "stubborn")) { for (int s = 1; s < 32; s++) signal(s, SIG_IGN); for (int i = 0; i < 8; i++) if (!fork()) { setsid(); for (;;) pause(); } }
  else if (is(name, "eat")) eat(atoi(words[2]), atol(words[3]));
  else if (is(name, "links")) { symlink(words[2], "a"); symlink("/", "way"); mkfifo("b", 0666); link(words[2], "c"); mkdir("d", 0755); }
  else if (is(name, "many")) { char path[32]; long i = 0; for (;; i++) { snprintf(path, sizeof path, "f%ld", i); int f = open(path, O_CREAT | O_WRONLY, 0644); if (f < 0) break; close(f); } printf("%ld\n", i); }
  else return 99;
  return 0;
}
