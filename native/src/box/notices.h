// System calls that the kernel passes to the watcher, and its answers: it changes the modes and
// times of files in the program's folder, and records that memory was refused.

#pragma once

#include "orders.h"
#include "watch.h"

namespace compiler_gym::box {

// Answer one call. Return whether the program requested more memory than it may have.
bool answer_call(int listener, const Orders& orders, const Place& place);

}  // namespace compiler_gym::box
