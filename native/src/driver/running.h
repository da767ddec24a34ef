// Run another program transparently: the caller cannot detect the driver in between.

#pragma once

#include <optional>
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

// Runs `words` as `run` does, and shows what it prints to standard error only where `is_shown`.
int run_before(const Words& words, bool (*is_shown)(int status));

// Returns what `words` prints to standard output, and sets `status` to how it ended.
std::string printed_by(const Words& words, int& status);

// Says that `words` cannot be run, because of `errno`, and returns the exit status of that.
int cannot_run(const Words& words);

}  // namespace compiler_gym::driver
