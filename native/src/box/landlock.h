// What the kernel's Landlock forbids a process without any privilege: files beyond some folders,
// TCP, and signals to processes that were not started by it.

#pragma once

#include "orders.h"

namespace compiler_gym::box {

// How much of Landlock there is: 0, or the version of its interface.
int landlock_version();

// Restricts this process and what it starts. Returns whether it is restricted.
bool restrict_by_landlock(const Orders& orders, const char* scratch);

}  // namespace compiler_gym::box
