#include "waiting.h"

#include <algorithm>
#include <cmath>
#include <ctime>

namespace compiler_gym::service {

namespace {

// The longest sleep at a time.
constexpr double longest_seconds = 1;

}  // namespace

double seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

int sleep_on(pollfd* looked_at, std::size_t count, double seconds) {
  const double left = std::clamp(seconds, 0.0, longest_seconds);
  const double whole = std::floor(left);
  const timespec timeout{static_cast<time_t>(whole), static_cast<long>((left - whole) * 1e9)};
  return ppoll(looked_at, count, &timeout, nullptr);
}

}  // namespace compiler_gym::service
