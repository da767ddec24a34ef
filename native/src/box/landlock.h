// What the kernel's Landlock forbids a process without any privilege: files beyond some folders,
// TCP, and signals to processes that were not started by it.

#pragma once

#include "orders.h"

namespace compiler_gym::box {

// How much of Landlock there is: 0, or the version of its interface.
int landlock_version();

// Returns what is allowed, to be enforced later: who may look at a path may not be who is
// restricted to it. A negative number where there is no Landlock.
int make_rules(const Orders& orders, const char* scratch);

// Restricts this process and what it starts. Returns whether it is restricted.
bool enforce(int rules);

}  // namespace compiler_gym::box
