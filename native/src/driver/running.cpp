#include "running.h"

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

void hand_on(int signal) {
  if (child > 0) kill(child, signal);
}

char scratch[4096];

void remove_scratch() {
  std::error_code ignored;
  if (*scratch) std::filesystem::remove_all(scratch, ignored);
}

int wait_for_child() {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// Ends us by `signal`, as it ended the child, and leaves no second core.
int end_by(int signal) {
  remove_scratch();
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  ::signal(signal, SIG_DFL);
  raise(signal);
  return 128 + signal;
}

// Starts `words` with the stream `number` to the file `output`, if that is one; it ends when we do.
void start(const Words& words, int output = -1, int number = STDOUT_FILENO) {
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);  // no signal is lost before there is a child
  const pid_t parent = getpid();
  child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent) _exit(not_run);
    if (output >= 0) dup2(output, number);
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
  return WIFSIGNALED(status) ? end_by(WTERMSIG(status)) : WEXITSTATUS(status);
}

int run_before(const Words& words, bool (*is_shown)(int status)) {
  const int file = memfd_create("errors", MFD_CLOEXEC);
  if (file < 0) return run(words);
  start(words, file, STDERR_FILENO);
  if (child < 0) return cannot_run(words);
  const int status = wait_for_child();
  const int result = WIFSIGNALED(status) ? end_by(WTERMSIG(status)) : WEXITSTATUS(status);
  std::array<char, 4096> part;
  lseek(file, 0, SEEK_SET);
  for (ssize_t count; is_shown(result) && (count = read(file, part.data(), part.size())) > 0;)
    fwrite(part.data(), 1, count, stderr);
  close(file);
  return result;
}

std::string printed_by(const Words& words, int& status) {
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
  status = WIFSIGNALED(ended) ? end_by(WTERMSIG(ended)) : WEXITSTATUS(ended);
  return text;
}

}  // namespace compiler_gym::driver
