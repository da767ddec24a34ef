#include "compiler_gym/service/exchange.h"

#include <algorithm>
#include <stdexcept>

#include "compiler_gym/service/cores.h"
#include "request.h"
#include "waiting.h"
#include "wave.h"

namespace compiler_gym::service {

namespace {

// The time to wait for a late reply before checking the other channels.
constexpr double patience_seconds = 10e-3;

// Wait for a late reply. Its worker had to wait for those that are done, and shares the cores with
// the others.
void await_among(const std::vector<Channel*>& channels, Channel& channel) {
  const std::size_t cores = list_thread_cores().size();
  while (true) {
    double computed = 0;
    std::size_t others = 0;  // on all cores
    for (Channel* other : channels) {
      if (other == &channel) continue;
      others += other->take_in() ? 1 : 0;
      note_reply(*other);
      computed += other->seconds;
    }
    const double now = seconds_now();
    const double until =
        extended(channel.deadline, channel.limit, computed, (others + cores - 1) / cores);
    if (now >= until) return;
    channel.await(std::min(until, now + patience_seconds), 0);
    if (!channel.take_in()) return;
  }
}

}  // namespace

void exchange_at_once(const std::vector<Channel*>& channels, double first_awake_seconds,
                      double awake_seconds) {
  const int here = current_core();
  std::vector<Channel*> near, far;
  for (Channel* channel : channels) {
    if (channel->is_held()) (channel->core == here ? near : far).push_back(channel);
  }
  const auto send = [](Channel* channel) {
    if (channel->is_placed) channel->place(-1);
    channel->send_held();
  };
  std::for_each(far.begin(), far.end(), send);
  std::for_each(near.begin(), near.end(), send);
  near.insert(near.end(), far.begin(), far.end());
  double seconds = first_awake_seconds;
  for (Channel* channel : near) {
    channel->await(channel->deadline, seconds);
    if (channel->take_in()) await_among(near, *channel);
    note_reply(*channel);
    seconds = awake_seconds;
  }
}

Turns exchange_in_turn(const std::vector<Channel*>& channels, const std::vector<double>& seconds,
                       double share, double late_seconds, Host& host) {
  if (seconds.size() != channels.size()) {
    throw std::invalid_argument("seconds must have one value for each channel");
  }
  return Wave(channels, seconds, share, late_seconds).run(host);
}

}  // namespace compiler_gym::service
