// The files that a box has: the host's programs and libraries to read, a scratch folder of its
// own to write, and nothing else.

#pragma once

#include "orders.h"
#include "users.h"

namespace compiler_gym::box {

// Replaces the root of this process, which has namespaces of its own. Returns what could not be
// done, or null; errno says why. With `writable`, that gets a /proc in which can be written.
const char* build_root(const Orders& orders, User user, int* writable);

// Makes `user` the owner of a folder and of what is in it; returns whether that is so.
bool give_folder(int folder, User user);

// Copies what is in the folder `from` to `to`, for `user`; returns whether all of it came.
bool copy_into(int from, int to, User user);

// Copies the plain files that are wanted from `from` to `to`, where their names are 0, 1, ...
// in the order in which they were asked for.
void collect(const Orders& orders, int from, int to);

}  // namespace compiler_gym::box
