#include "compiler_gym/service/cores.h"

#include <dirent.h>
#include <sched.h>

#include <bit>
#include <charconv>
#include <string>
#include <string_view>

namespace compiler_gym::service {

namespace {

// A set of as many cores as the kernel supports.
struct CoreSet {
  static constexpr int most = 8192;
  unsigned long words[most / (8 * sizeof(unsigned long))] = {};

  cpu_set_t* set() { return reinterpret_cast<cpu_set_t*>(words); }
};

// The cores of this thread; empty if unknown.
CoreSet read_thread_cores() {
  CoreSet cores;
  if (sched_getaffinity(0, sizeof(cores.words), cores.set()) < 0) return {};
  return cores;
}

bool bind_to(int task, CoreSet& cores) {
  return sched_setaffinity(task, sizeof(cores.words), cores.set()) == 0;
}

int number_in(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

int current_core() { return sched_getcpu(); }

std::vector<int> list_thread_cores() {
  constexpr int bits = 8 * sizeof(unsigned long);
  const CoreSet cores = read_thread_cores();
  const int here = current_core();
  std::vector<int> found;
  for (int word = 0; word < CoreSet::most / bits; ++word) {
    for (unsigned long left = cores.words[word]; left != 0; left &= left - 1) {
      const int core = word * bits + std::countr_zero(left);
      if (core != here) found.push_back(core);
    }
  }
  found.push_back(here);
  return found;
}

bool bind_process(int pid, int core) {
  CoreSet cores;
  CPU_SET_S(core, sizeof(cores.words), cores.set());
  return bind_to(pid, cores);
}

bool free_process(int pid) {
  CoreSet cores = read_thread_cores();
  // Threads that it started while bound share its one core.
  const std::string path = "/proc/" + std::to_string(pid) + "/task";
  bool is_free = false;
  if (DIR* const tasks = opendir(path.c_str())) {
    while (const dirent* task = readdir(tasks)) {
      const int number = number_in(task->d_name);
      if (number > 0 && bind_to(number, cores)) is_free = true;
    }
    closedir(tasks);
  }
  return is_free;
}

}  // namespace compiler_gym::service
