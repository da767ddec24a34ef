// Many requests at once: which core computes each of them, and which reply to wait for first.
#pragma once

#include <vector>

#include "compiler_gym/service/channel.h"

namespace compiler_gym::service {

// Statistics of requests whose workers were bound to cores.
struct Turns {
  int timed = 0;  // number of replies that report how long they were computed
  int late = 0;   // number of replies that arrived much later than that
};

// Send all stored requests at once and wait for the replies, first for those whose workers run on
// our own core. When such a worker is done, the core is free to receive replies; a worker on
// another core would wake us on this one, in the middle of a pass. Spin for `first_awake_seconds`
// before the first reply and for `awake_seconds` before the others.
void exchange_at_once(const std::vector<Channel*>& channels, double first_awake_seconds,
                      double awake_seconds);

// Send the stored requests, the longest first according to the estimates in `seconds`, and wait for
// the replies. Each core gets its part of `share` at once, and one of the rest each time it
// has finished all of its requests: each wake-up for a reply costs time, and so does a wrong
// estimate. A reply's delay is the time its core was busy beyond the duration that the reply
// reports, in units of `late_seconds`. `host` is the waiting program. Throws std::invalid_argument
// unless `seconds` has one value for each channel.
Turns exchange_in_turn(const std::vector<Channel*>& channels, const std::vector<double>& seconds,
                       double share, double late_seconds, Host& host);

}  // namespace compiler_gym::service
