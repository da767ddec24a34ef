// Many requests at once: which core computes each, and whose reply is waited for first.
#pragma once

#include <vector>

#include "line.h"

namespace compiler_gym::line {

// How a wave of requests went whose workers were given cores.
struct Turns {
  int timed = 0;  // how many replies say how long they were computed
  int late = 0;   // how many of them were on their way for much longer
};

// Sends what the lines hold, all at once, and waits for the replies: for those first whose
// workers compute on the core that we are on. When such a worker is done the core is free to
// take replies in; one on another core would wake us on this one, in the middle of a pass. For
// the first reply we stay awake for `first_awake_seconds`, for the others longer.
void exchange_at_once(const std::vector<Line*>& lines, double first_awake_seconds,
                      double awake_seconds);

// Sends what the lines hold in their order, one to each core at a time, and waits for all replies.
// A reply that is on its way for `late_seconds` more than it was computed is late.
Turns exchange_in_turn(const std::vector<Line*>& lines, double late_seconds);

}  // namespace compiler_gym::line
