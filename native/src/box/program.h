// The privileges that a process drops before it becomes the program.

#pragma once

#include "watch.h"

namespace compiler_gym::box {

// A message from the program's process to its watcher: the first when it starts, the second if that
// failed.
struct Message {
  double started;
  int error;
  char failed[48];
};

[[noreturn]] void become_program(const Orders& orders, const Place& place, int channel, int ready);

}  // namespace compiler_gym::box
