#include "wave.h"

#include <algorithm>
#include <cerrno>

#include "compiler_gym/service/cores.h"
#include "request.h"
#include "waiting.h"

namespace compiler_gym::service {

Wave::Wave(const std::vector<Channel*>& channels, const std::vector<double>& seconds, double share,
           double late_seconds)
    : late_seconds_(late_seconds) {
  double total = 0;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (!channels[i]->is_held()) continue;
    held_.push_back({channels[i], seconds[i]});
    total += seconds[i];
  }
  std::stable_sort(held_.begin(), held_.end(),
                   [](const Held& a, const Held& b) { return a.seconds > b.seconds; });
  for (const int number : list_thread_cores()) cores_.push_back(Core{number});
  load_at_first_ = share * total / static_cast<double>(cores_.size());
}

Turns Wave::run(Host& host) {
  send_first();
  while (true) {
    host.check_interrupts();
    const auto earliest = watch();
    if (!earliest) return turns_;
    const double left = *earliest - seconds_now();
    const int found =
        unlocked(host, [&] { return sleep_on(looked_at_.data(), looked_at_.size(), left); });
    if (found < 0 && errno != EINTR) throw ChannelError(errno);
    const double now = seconds_now();
    for (std::size_t i = 0; i < watched_.size(); ++i) {
      const bool is_readable = found > 0 && looked_at_[i].revents != 0;
      if (is_readable || watched_[i]->deadline() <= now) take_in(*watched_[i], now);
    }
  }
}

double Wave::Core::deadline() const {
  const Request& last = under_way.back();
  return last.channel->descriptor() < 0 ? long_ago : deadline_of(last);
}

double Wave::Core::deadline_of(const Request& request) const {
  return extended(request.deadline, request.channel->limit, computed, under_way.size() - 1);
}

void Wave::Core::note(Channel& channel) {
  note_reply(channel);
  channel.core = number;
  computed += channel.seconds;
  has_failed |= channel.seconds <= 0;
  ++done;
}

template <typename IsOver>
void Wave::Core::forget(const IsOver& is_over) {
  std::size_t kept = 0;
  for (Request& request : under_way) {
    if (is_over(request)) {
      note(*request.channel);
    } else {
      under_way[kept++] = request;
    }
  }
  under_way.resize(kept);
}

void Wave::send_first() {
  const double now = seconds_now();
  while (!held_.empty()) {
    Core& idlest = *std::min_element(cores_.begin(), cores_.end(),
                                     [](const Core& a, const Core& b) { return a.load < b.load; });
    if (idlest.load > 0 && idlest.load >= load_at_first_) return;
    send_to(idlest, now);
  }
}

void Wave::send_to(Core& core, double now) {
  const Held next = take_for(core);
  Channel& channel = *next.channel;
  if (channel.core != core.number || !channel.is_placed) channel.place(core.number);
  channel.core = core.number;
  channel.send_held();
  if (core.under_way.empty()) core.began = now;
  core.load += std::max(next.seconds, 1e-9);
  core.under_way.push_back({&channel, channel.has_trouble() ? long_ago : channel.deadline});
}

// Return the next request to send, preferably one whose worker was on `core` before: some of its
// data are in the caches there.
Wave::Held Wave::take_for(const Core& core) {
  const auto choices = static_cast<std::ptrdiff_t>(std::min(cores_.size() + 1, held_.size()));
  auto place = std::find_if(held_.begin(), held_.begin() + choices,
                            [&](const Held& held) { return held.channel->core == core.number; });
  if (place == held_.begin() + choices) place = held_.begin();
  const Held held = *place;
  held_.erase(place);
  return held;
}

// Watch the last request of each core: when it is done, all before it usually are. Return the
// earliest deadline, or nothing if all is done.
std::optional<double> Wave::watch() {
  watched_.clear();
  looked_at_.clear();
  std::optional<double> earliest;
  for (Core& core : cores_) {
    if (core.under_way.empty()) continue;
    watched_.push_back(&core);
    looked_at_.push_back({core.under_way.back().channel->descriptor(), POLLIN, 0});
    const double deadline = core.deadline();
    if (!earliest || deadline < *earliest) earliest = deadline;
  }
  return earliest;
}

// Receive the available replies on `core`, and send the next request if none is outstanding.
void Wave::take_in(Core& core, double now) {
  core.forget([&](Request& request) { return is_answered(request, now); });
  core.forget([&](Request& request) { return now >= core.deadline_of(request); });
  if (!core.under_way.empty()) return;
  judge(core, now);
  if (!held_.empty()) send_to(core, now);
}

// Return whether the reply is complete, or will never arrive. A reply that has begun gets a little
// more time.
bool Wave::is_answered(Request& request, double now) {
  Channel& channel = *request.channel;
  const bool had_begun = channel.has_begun();
  if (channel.descriptor() < 0 || !channel.take_in()) return true;
  if (!had_begun && channel.has_begun()) {
    request.deadline = std::max(request.deadline, now + rest_seconds);
  }
  return false;
}

// Count the replies of a core as late if it was busy for much longer than its workers computed.
void Wave::judge(Core& core, double now) {
  if (!core.has_failed) {
    turns_.timed += core.done;
    const double too_long = (now - core.began - core.computed) / late_seconds_;
    turns_.late += static_cast<int>(std::clamp(too_long, 0.0, static_cast<double>(core.done)));
  }
  core.computed = core.done = 0;
  core.has_failed = false;
}

}  // namespace compiler_gym::service
