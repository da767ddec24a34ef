// Runs one program to its end or to the first limit that it passes, ends whatever it started,
// and says what happened.

#pragma once

#include "orders.h"
#include "root.h"

namespace compiler_gym::box {

struct Place {
  User user;               // who the program is
  bool changes_user;       // whether this process is somebody else, and may become that
  bool is_first;           // this is the first process of a namespace: nothing else is in it
  bool is_owner;           // the program owns files of the host, and may change none of them
  int writable_processes;  // a /proc to write user maps in, or -1
  int scratch;             // the folder that the program works in
};

// Returns the exit status of this process; the report is written before.
int watch(const Orders& orders, const Place& place);

// Ends everything that descends from this process.
void end_descendants();

// Writes that no program was run, and why; `error` is errno or 0.
void report_failure(const Orders& orders, const char* what, int error);

// A child that takes `flags` of clone and starts in the group of `orders`, if there is one.
pid_t start_child(const Orders& orders, unsigned long long flags);

}  // namespace compiler_gym::box
