// Restrictions by the kernel's Landlock, without any privilege: files beyond some folders, TCP, and
// signals to processes that this process did not start.

#pragma once

#include "orders.h"

namespace compiler_gym::box {

// The version of the Landlock interface, or 0.
int landlock_version();

// Create a ruleset, to be enforced later: the restricted user may not have access to a path that
// must be opened for its rule. A negative number without Landlock.
int make_rules(const Orders& orders, const char* scratch);

// Restrict this process and its descendants. Return whether that succeeded.
bool enforce(int rules);

}  // namespace compiler_gym::box
