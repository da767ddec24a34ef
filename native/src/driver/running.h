// Run another program transparently: the caller cannot detect the driver in between.

#pragma once

#include <sys/types.h>

#include <string>

#include "words.h"

namespace compiler_gym::driver {

// Replace this process with the program `words`; return only if that fails.
void become(const Words& words);

// Run `words` to its end and return its exit status. Forwards our signals to it, and ends this
// process with the signal that ends it; if it cannot be run, prints a message and returns 2.
int run(const Words& words);

// Make a folder that is removed when this process ends; return "" if that is not possible.
std::string make_scratch();

// The output of a command, and whether it crashed.
struct Printed {
  std::string output;
  std::string errors;
  bool is_crash = false;

  void show() const;
  // Return the first error that it reported, without the name of the program.
  std::string first_error() const;
};

// Run `words` as `run` does, but keep what it prints, and survive its crash; return the status.
int run_and_keep(const Words& words, Printed& printed);

// Start `words`, whose output is discarded; it ends when this process does.
pid_t start_silently(const Words& words);

// Wait for a started process; return its status.
int wait_for(pid_t process);

// Return the standard output of `words`, and set `status` to its exit status.
std::string read_output(const Words& words, int& status);

// Print that `words` cannot be run, because of `errno`, and return the exit status for that.
int cannot_run(const Words& words);

}  // namespace compiler_gym::driver
