// Python face of compiler_gym/service/exchange.h.

#include "compiler_gym/service/exchange.h"

#include <nanobind/stl/pair.h>

#include "bindings.h"

namespace compiler_gym::python {

void bind_exchange(nb::module_& m) {
  m.def(
      "exchange_at_once",
      [](const ChannelSequence& channels, double first_awake_seconds, double awake_seconds) {
        const nb::tuple kept(channels);  // the caller may change the list meanwhile
        service::exchange_at_once(channels_in(channels), first_awake_seconds, awake_seconds);
      },
      "channels"_a, "first_awake_seconds"_a, "awake_seconds"_a,
      "Send what the channels hold and wait for the replies, which `receive` then returns. Only "
      "what interrupts is raised: `receive` raises the rest.");
  m.def(
      "exchange_in_turn",
      [](const ChannelSequence& channels, const Numbers& seconds, double share,
         double late_seconds) {
        const nb::tuple kept(channels);
        std::vector<double> expected;
        for (nb::handle item : seconds) expected.push_back(nb::cast<double>(item));
        const service::Turns turns = service::exchange_in_turn(channels_in(channels), expected,
                                                               share, late_seconds, interpreter());
        return std::pair(turns.timed, turns.late);
      },
      "channels"_a, "seconds"_a, "share"_a, "late_seconds"_a,
      "As `exchange_at_once`, the longest first by what they are expected to take, `seconds`. Each "
      "core gets its part of `share` of them at once, then one at a time. Return how many replies "
      "say how long they were computed, and how many `late_seconds` they came later than that, "
      "but no more than there were.");
}

}  // namespace compiler_gym::python
