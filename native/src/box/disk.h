// The use of a disk without a separate size limit: the files in the program's folder, and unlinked
// files that its processes have open.

#pragma once

#include <sys/types.h>

#include "processes.h"

namespace compiler_gym::box {

struct Held {
  long long bytes = 0;
  unsigned long files = 0;
  bool is_whole = true;  // deeply nested folders that are moved meanwhile cannot be counted
  bool is_shown = true;  // a process may hide its open files
};

// Count the files in `folder`, without following links, up to `most` files, and the open files of
// `seen`.
Held count_held(int folder, const Seen& seen, uid_t owner, unsigned long most);

}  // namespace compiler_gym::box
