#include "compiler_gym/jit/calls.h"

#include <ctime>

namespace compiler_gym::jit {
namespace {

using Function = void (*)(const std::uintptr_t* buffers);

double now(Clock clock) {
  timespec at;
  clock_gettime(clock == Clock::wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &at);
  return static_cast<double>(at.tv_sec) + 1e-9 * static_cast<double>(at.tv_nsec);
}

}  // namespace

void run(const Call& call) { reinterpret_cast<Function>(call.function)(call.buffers.data()); }

std::vector<std::vector<double>> time_alternating(const std::vector<Call>& calls, int rounds,
                                                  const std::vector<int>& repeats, Clock clock) {
  std::vector<std::vector<double>> seconds(calls.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < calls.size(); ++turn) {
      const std::size_t which = (turn + static_cast<std::size_t>(round)) % calls.size();
      const double begin = now(clock);
      for (int i = 0; i < repeats[which]; ++i) run(calls[which]);
      seconds[which].push_back((now(clock) - begin) / repeats[which]);
    }
  }
  return seconds;
}

}  // namespace compiler_gym::jit
