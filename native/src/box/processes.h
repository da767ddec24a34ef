// The processes of a box, and their memory and threads.

#pragma once

#include <dirent.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdlib>

namespace compiler_gym::box {

// The processes in a box except its watcher, each once.
class Seen {
 public:
  static constexpr int most = 8192;

  pid_t all[most];
  int count = 0;

  void add(pid_t pid);
  void clear();

 private:
  static constexpr pid_t most_number = 1 << 22;
  unsigned char marks_[most_number / 8];
};

// List the processes of this namespace or, if it `is_shared` with others, all descendants of this
// process. Every thread may have children, and so may they.
void look(Seen& seen, bool is_shared);

// The memory of a process: its pages, swap, huge pages, and their page tables.
struct Use {
  long threads = 1;
  long long resident = 0, others = 0;
  pid_t thread = 0;  // a live thread: the first one may have ended, and then reports no memory
};

Use use_of(pid_t pid);

// The resident bytes of a process, with its share of the pages that it shares with others.
long long proportional_bytes(pid_t pid, const Use& use);

// Read a small file of /proc; return its length.
long read_text(const char* path, char* text, std::size_t size);

// The number that follows `name`, or -1.
long long number_after(const char* text, const char* name);

// Call `take` with each numeric name in the folder `path` of /proc.
template <typename Take>
void each_number(const char* path, Take take) {
  DIR* entries = opendir(path);
  if (!entries) return;
  while (const dirent* entry = readdir(entries))
    if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') take(std::atoi(entry->d_name));
  closedir(entries);
}

}  // namespace compiler_gym::box
