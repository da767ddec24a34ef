// A filter of system calls (seccomp): what no program of a benchmark needs, and an escape would.

#pragma once

#include "orders.h"
#include "watch.h"

namespace compiler_gym::box {

// Filters this process and what it starts. Returns whether the filter is on; `listener` gets what
// tells the watcher of the calls that it judges itself (notices.h), or -1.
bool filter_calls(const Orders& orders, const Place& place, int* listener);

// A request for memory of that size is told to the watcher; 0: none is.
unsigned told_from(const Orders& orders);

}  // namespace compiler_gym::box
