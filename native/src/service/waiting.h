// Time, and sleeping for a descriptor.
#pragma once

#include <poll.h>

#include <cstddef>

namespace compiler_gym::service {

// The clock of Python's time.monotonic().
double seconds_now();

// Sleep until a descriptor is ready, for at most `seconds`, in short intervals so that a signal
// just before the sleep is noticed soon. Return as poll(2) does.
int sleep_on(pollfd* looked_at, std::size_t count, double seconds);

}  // namespace compiler_gym::service
