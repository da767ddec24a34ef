#include "running.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace compiler_gym::driver {

namespace {

constexpr std::array<int, 6> handed_on = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
constexpr int not_run = 2;

volatile pid_t child = 0;
volatile int received = 0;

void hand_on(int signal) {
  received = signal;
  if (child > 0) kill(child, signal);
}

char scratch[4096];

void remove_scratch() {
  std::error_code error;
  // A linker may outlive clang after a signal, and write until then.
  for (int times = 0; *scratch && times < 100; ++times) {
    std::filesystem::remove_all(scratch, error);
    if (!error) return;
    usleep(10'000);
  }
}

int wait_for_child() {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// End this process with `signal`, as the child ended, without a second core dump.
int end_with_signal(int signal) {
  remove_scratch();
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  ::signal(signal, SIG_DFL);
  raise(signal);
  return 128 + signal;
}

// Start `words` with its output and its errors in files, if these are given; it ends with this
// process.
void start(const Words& words, int output = -1, int errors = -1) {
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);  // no signal is lost before the child exists
  const pid_t parent = getpid();
  child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent) _exit(not_run);
    if (output >= 0) dup2(output, STDOUT_FILENO);
    if (errors >= 0) dup2(errors, STDERR_FILENO);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    become(words);
    _exit(cannot_run(words));
  }
  for (const int signal : handed_on) {
    struct sigaction now = {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler == SIG_IGN) continue;  // as under nohup: the child ignores it, too
    now.sa_handler = hand_on;
    now.sa_flags = SA_RESTART;
    sigaction(signal, &now, nullptr);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void become(const Words& words) {
  std::vector<char*> texts;
  for (const std::string& word : words) texts.push_back(const_cast<char*>(word.c_str()));
  texts.push_back(nullptr);
  execvp(texts[0], texts.data());
}

int cannot_run(const Words& words) {
  const char* why = strerror(errno);
  const std::string text =
      "compiler-gym cc: cannot run " + words[0] + ": " + why + ": see COMPILER_GYM_CC\n";
  fputs(text.c_str(), stderr);
  return not_run;
}

std::string make_scratch() {
  const char* parent = getenv("TMPDIR");
  snprintf(scratch, sizeof scratch, "%s/compiler-gym-cc-XXXXXX",
           parent && *parent ? parent : "/tmp");
  if (!mkdtemp(scratch)) *scratch = '\0';
  atexit(remove_scratch);
  return scratch;
}

int run(const Words& words) {
  start(words);
  if (child < 0) return cannot_run(words);
  const int status = wait_for_child();
  return WIFSIGNALED(status) ? end_with_signal(WTERMSIG(status)) : WEXITSTATUS(status);
}

void Printed::show() const {
  fwrite(output.data(), 1, output.size(), stdout);
  fflush(stdout);
  fwrite(errors.data(), 1, errors.size(), stderr);
}

std::string Printed::first_error() const {
  constexpr std::string_view mark = "error: ";
  if (is_crash) {  // LLVM prints the passes that were running, the innermost last
    constexpr std::string_view running = "Running pass '";
    const size_t start = errors.rfind(running);
    if (start == errors.npos) return "the linker crashed";
    const size_t name = start + running.size();
    return "the linker crashed in LLVM's pass " +
           errors.substr(name, errors.find('\'', name) - name);
  }
  const size_t found = errors.find(mark);
  const size_t start = found == errors.npos ? 0 : found + mark.size();
  const std::string line = errors.substr(start, errors.find('\n', start) - start);
  return line.empty() ? "no error was printed" : line;
}

int run_and_keep(const Words& words, Printed& printed) {
  const int files[] = {memfd_create("output", MFD_CLOEXEC), memfd_create("errors", MFD_CLOEXEC)};
  start(words, files[0], files[1]);
  if (child < 0) return cannot_run(words);
  const int status = wait_for_child();
  if (received) end_with_signal(received);
  std::string* const texts[] = {&printed.output, &printed.errors};
  for (int which : {0, 1}) {
    std::array<char, 4096> part;
    lseek(files[which], 0, SEEK_SET);
    for (ssize_t count; (count = read(files[which], part.data(), part.size())) > 0;)
      texts[which]->append(part.data(), count);
    close(files[which]);
  }
  printed.is_crash = WIFSIGNALED(status);
  return printed.is_crash ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

pid_t start_silently(const Words& words) {
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process) return process;
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (getppid() != parent) _exit(not_run);
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, stream);
  become(words);
  _exit(not_run);
}

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return not_run;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string read_output(const Words& words, int& status) {
  std::string text;
  int ends[2];
  if (pipe(ends)) {
    status = cannot_run(words);
    return text;
  }
  start(words, ends[1]);
  close(ends[1]);
  std::array<char, 4096> part;
  ssize_t count = 0;
  while ((count = read(ends[0], part.data(), part.size())) > 0 || (count < 0 && errno == EINTR))
    text.append(part.data(), count > 0 ? count : 0);
  close(ends[0]);
  const int ended = wait_for_child();
  status = WIFSIGNALED(ended) ? end_with_signal(WTERMSIG(ended)) : WEXITSTATUS(ended);
  return text;
}

}  // namespace compiler_gym::driver
