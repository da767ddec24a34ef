// The file system of a box: the host's programs and libraries, read-only, a separate writable
// scratch folder, and nothing else.

#pragma once

#include "orders.h"
#include "users.h"

namespace compiler_gym::box {

// Replace the root of this process, which must have separate namespaces. Return the name of the
// operation that failed, or null; errno is set. If `writable` is given, it receives a writable
// /proc.
const char* build_root(const Orders& orders, User user, int* writable);

// Make `user` the owner of a folder and its contents; return whether that succeeded.
bool give_folder(int folder, User user);

// Copy the contents of the folder `from` to `to`, for `user`; return whether that is complete.
bool copy_into(int from, int to, User user);

// Copy the requested plain files from `from` to `to`, where their names are 0, 1, ... in the order
// of the request.
void collect(const Orders& orders, int from, int to);

}  // namespace compiler_gym::box
