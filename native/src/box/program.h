// What a process gives up before it becomes the program.

#pragma once

#include "watch.h"

namespace compiler_gym::box {

// What the program's process tells its watcher: first when it starts, and then why it did not.
struct Told {
  double started;
  int error;
  char failed[48];
};

[[noreturn]] void become_program(const Orders& orders, const Place& place, int told, int ready);

}  // namespace compiler_gym::box
