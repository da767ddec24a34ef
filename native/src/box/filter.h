// A filter of system calls (seccomp): what no program of a benchmark needs, and an escape would.

#pragma once

namespace compiler_gym::box {

struct FilterOrders {
  bool is_apart;           // has a network and message queues of its own, which end with it
  bool may_count;          // the processor's counters
  bool may_fix_addresses;  // personality(ADDR_NO_RANDOMIZE), as sanitizers ask for
};

// Filters this process and what it starts. Returns whether the filter is on.
bool filter_calls(const FilterOrders& orders);

}  // namespace compiler_gym::box
