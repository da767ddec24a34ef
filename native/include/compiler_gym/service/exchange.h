// Many requests at once: which core computes each, and whose reply is waited for first.
#pragma once

#include <vector>

#include "compiler_gym/service/channel.h"

namespace compiler_gym::service {

// How the requests went whose workers were given cores.
struct Turns {
  int timed = 0;  // how many replies say how long they were computed
  int late = 0;   // how many of them came much later than that
};

// Sends what the channels hold, all at once, and waits for the replies: for those first whose
// workers compute on the core that we are on. When such a worker is done the core is free to
// take replies in; one on another core would wake us on this one, in the middle of a pass. For
// the first reply we stay awake for `first_awake_seconds`, for the others longer.
void exchange_at_once(const std::vector<Channel*>& channels, double first_awake_seconds,
                      double awake_seconds);

// Sends what the channels hold, the longest first by what is expected, `seconds` for each, and
// waits for the replies. Every core gets its part of `share` of them at once, and one of the rest
// each time that it has done all it has: being woken for a reply costs, and so does a wrong guess.
// Replies are late by what their core was busy for, in units of `late_seconds`, beyond what they
// say that they took. `host` is who waits. Throws std::invalid_argument unless there is a number
// of seconds for each channel.
Turns exchange_in_turn(const std::vector<Channel*>& channels, const std::vector<double>& seconds,
                       double share, double late_seconds, Host& host);

}  // namespace compiler_gym::service
