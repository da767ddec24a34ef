// Time, and sleeping for a descriptor.
#pragma once

#include <poll.h>

#include <cstddef>

namespace compiler_gym::service {

// By the clock of Python's time.monotonic().
double seconds_now();

// Sleeps until there is something to read or write, `seconds` at most; so much at a time that a
// signal which came just before is not heard too late. Returns as poll(2).
int sleep_on(pollfd* looked_at, std::size_t count, double seconds);

}  // namespace compiler_gym::service
