// A filter of system calls (seccomp): it denies calls that no benchmark needs but an escape would.

#pragma once

#include "orders.h"
#include "watch.h"

namespace compiler_gym::box {

// Filter the calls of this process and its descendants. Return whether the filter is on; `listener`
// receives the descriptor on which the watcher gets the calls that it decides itself (notices.h),
// or -1.
bool filter_calls(const Orders& orders, const Place& place, int* listener);

// The size from which requests for memory are reported to the watcher; 0: none are.
unsigned notify_from(const Orders& orders);

}  // namespace compiler_gym::box
