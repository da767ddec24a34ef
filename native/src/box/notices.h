// The calls of a program that its watcher is told of, and what it answers: a file of the program's
// own folder gets its mode and its times, and that memory was refused is remembered.

#pragma once

#include "orders.h"
#include "watch.h"

namespace compiler_gym::box {

// Answers one call. Returns whether the program asked for more memory than it may have.
bool answer_call(int listener, const Orders& orders, const Place& place);

}  // namespace compiler_gym::box
