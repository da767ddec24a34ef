// What a program holds of a disk that has no size of its own: the files of its folder, and those
// that have no name any more and that its processes have open.

#pragma once

#include <sys/types.h>

#include "processes.h"

namespace compiler_gym::box {

struct Held {
  long long bytes = 0;
  unsigned long files = 0;
  bool is_whole = true;  // folders that are moved about below many others cannot be counted
  bool is_shown = true;  // a process may hide what it has open
};

// Counts what is in `folder`, links not followed, up to `most` files, and what `seen` have open.
Held held_in(int folder, const Seen& seen, uid_t owner, unsigned long most);

}  // namespace compiler_gym::box
