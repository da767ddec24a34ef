// Timed calls of machine code by address, in sequence or alternating.
#pragma once

#include <cstdint>
#include <vector>

namespace compiler_gym::jit {

// A `void f(ptr buffers)`, which takes the array of the addresses of its buffers.
struct Call {
  std::uintptr_t function = 0;
  std::vector<std::uintptr_t> buffers;
};

void run(const Call& call);

enum class Clock {
  wall,       // what threads of a pool do counts only where the caller waits for it
  processor,  // of this thread: what else the machine does counts little
};

// Seconds of one run of each call, `rounds` times: in each round every call is run `repeats` times
// in a row, and the next round begins with another one.
std::vector<std::vector<double>> time_in_turns(const std::vector<Call>& calls, int rounds,
                                               const std::vector<int>& repeats, Clock clock);

}  // namespace compiler_gym::jit
