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
      "Send the stored requests and wait for the replies, which `receive` then returns. Raises "
      "interrupts only: `receive` raises other errors.");
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
      "Like `exchange_at_once`, but the longest request first, according to `seconds`. Each core "
      "gets its part of `share` at once, then one at a time. Return the number of replies "
      "that report how long they were computed, and their total delay in units of `late_seconds`, "
      "at most one for each.");
}

}  // namespace compiler_gym::python
