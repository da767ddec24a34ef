// Run another program transparently: the caller cannot detect the driver in between.

#pragma once

#include <sys/types.h>

#include <string>

#include "words.h"

namespace compiler_gym::driver {

// Becomes the program of `words`; returns only where it cannot be run.
void become(const Words& words);

// Runs `words` to its end and returns its exit status. Signals for us are handed on, and a signal
// that ends it ends us; what cannot be run is said, and is 2.
int run(const Words& words);

// Makes a folder that is removed when this process ends; returns "" if that is not possible.
std::string make_scratch();

// What a command printed, and how it ended.
struct Printed {
  std::string output;
  std::string errors;
  bool is_crash = false;

  void show() const;
  // Return the first error that it reports, without the name of the program.
  std::string first_error() const;
};

// Run `words` as `run` does, but keep what it prints, and survive its crash; return the status.
int run_and_keep(const Words& words, Printed& printed);

// Start `words`, whose output is discarded; it ends when this process does.
pid_t start_silently(const Words& words);

// Wait for a started process; return its status.
int wait_for(pid_t process);

// Returns what `words` prints to standard output, and sets `status` to how it ended.
std::string printed_by(const Words& words, int& status);

// Says that `words` cannot be run, because of `errno`, and returns the exit status of that.
int cannot_run(const Words& words);

}  // namespace compiler_gym::driver
