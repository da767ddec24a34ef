// The configuration of a box, read from the command line, which only the library writes.

#pragma once

#include <sys/types.h>

namespace compiler_gym::box {

enum class Tier {
  none,        // limits of time, output and memory, so that a run ends
  limits,      // and what a process may be forbidden without namespaces
  namespaces,  // and a machine of its own
  inside,      // namespaces that somebody else has made already
};

template <int most>
struct Words {
  const char* all[most] = {};
  int count = 0;

  bool add(const char* word) { return count < most && (all[count++] = word); }
  const char* const* begin() const { return all; }
  const char* const* end() const { return all + count; }
};

struct Orders {
  static constexpr int most = 64;

  Tier tier = Tier::none;
  int report = -1;      // where the report goes
  int inputs = -1;      // the folder whose files the program finds in its own
  int outputs = -1;     // the folder that the files named in `collected` come to
  int group = -1;       // a folder of cgroup v2 for this box alone
  pid_t parent = 0;     // who asks; the box ends with it
  double seconds = 10;  // wall time
  long cpu_seconds = 11;
  long long file_bytes = 64LL << 20;
  long long scratch_bytes = 256LL << 20;
  long long process_bytes = 0;  // address space of each process; 0: unbounded
  long long tree_bytes = 0;     // memory in use by all together; 0: unbounded
  long processes = 64;          // and threads
  long open_files = 256;        // of each process
  bool may_count = false;       // whether it may use the processor's counters
  bool keeps_user = false;
  const char* work = nullptr;  // a folder of the host that it works in
  const char* folder = "/box";
  const char* directory = nullptr;  // where it starts, if not there
  Words<most> system;               // programs and libraries of this machine, to read
  Words<most> devices;              // those without memory: null, zero, ...
  Words<most> shown;                // what else it may read
  Words<most * 4> collected;        // names of output files
  char** command = nullptr;
};

// Ends the process with a message where a word is not understood.
Orders read_orders(int count, char** words);

}  // namespace compiler_gym::box
