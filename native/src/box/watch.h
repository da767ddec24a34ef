// Runs one program to its end or to the first limit that it exceeds, ends all processes that it
// started, and reports the outcome.

#pragma once

#include "orders.h"
#include "root.h"

namespace compiler_gym::box {

struct Place {
  User user;          // the program's user
  bool changes_user;  // whether this process is another user, and may become the program's
  bool is_first;      // whether this is the first process of a namespace, which holds no unrelated
                      // processes
  bool is_owner;      // whether the program owns files of the host, which it must not change
  int writable_processes;  // a /proc for writing user maps, or -1
  int scratch;             // the program's folder
};

// Return the exit status of this process after writing the report.
int watch(const Orders& orders, const Place& place);

// End all descendants of this process.
void end_descendants();

// Report that no program was run, and why; `error` is errno or 0.
void report_failure(const Orders& orders, const char* what, int error);

// Start a child with the `flags` of clone in the cgroup of `orders`, if there is one.
pid_t start_child(const Orders& orders, unsigned long long flags);

}  // namespace compiler_gym::box
