// Timed calls of machine code by address, in sequence or alternating.
#pragma once

#include <cstdint>
#include <vector>

namespace compiler_gym::jit {

// A `void f(ptr buffers)`, whose argument is an array with the addresses of its buffers.
struct Call {
  std::uintptr_t function = 0;
  std::vector<std::uintptr_t> buffers;
};

void run(const Call& call);

enum class Clock {
  wall,       // threads of a pool count only while the caller waits for them
  processor,  // time of this thread: other load on the machine counts little
};

// Time each call in seconds for `rounds` rounds: each round runs every call `repeats` times in a
// row, and the next round begins with a different call.
std::vector<std::vector<double>> time_alternating(const std::vector<Call>& calls, int rounds,
                                                  const std::vector<int>& repeats, Clock clock);

}  // namespace compiler_gym::jit
