// The configuration of a box, read from the command line, which only the library writes.

#pragma once

#include <sys/types.h>

namespace compiler_gym::box {

enum class Tier {
  none,        // limits of time, output and memory
  limits,      // plus all restrictions that need no namespaces
  namespaces,  // plus an isolated machine
  inside,      // namespaces that were made outside
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
  int report = -1;      // the destination of the report
  int inputs = -1;      // the folder whose files are copied into the program's folder
  int outputs = -1;     // the folder for the files in `collected`
  int group = -1;       // a cgroup v2 folder for this box alone
  pid_t parent = 0;     // the caller; the box ends with it
  double seconds = 10;  // wall time
  long cpu_seconds = 11;
  long long file_bytes = 64LL << 20;
  long long scratch_bytes = 256LL << 20;
  long long process_bytes = 0;  // address space of each process; 0: unbounded
  long long tree_bytes = 0;     // memory in use by all together; 0: unbounded
  long processes = 64;          // including threads
  long open_files = 256;        // of each process
  bool may_count = false;       // whether it may use the processor's counters
  bool keeps_user = false;
  const char* work = nullptr;  // a folder of the host as the program's folder
  const char* folder = "/box";
  const char* directory = nullptr;  // the current folder, if it is another one
  Words<most> system;               // readable programs and libraries of this machine
  Words<most> devices;              // devices without memory: null, zero, ...
  Words<most> shown;                // additional readable paths
  Words<most * 4> collected;        // names of output files
  char** command = nullptr;
};

// End the process with a message if a word is not understood.
Orders read_orders(int count, char** words);

}  // namespace compiler_gym::box
