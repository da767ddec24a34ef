#include "wave.h"

#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>

#include "reply.h"

namespace compiler_gym::line {

namespace {

// What is slept at most at a time; there are deadlines without an end.
constexpr double kLongestSeconds = 3600;
// How long the rest of a reply is waited for at least when its beginning is there.
constexpr double kRestSeconds = 50e-3;

// The cores that this thread may use. Its own comes last: it is busy until the thread sleeps.
std::deque<int> cores_of_thread() {
  constexpr int kMost = 8192;
  unsigned long words[kMost / (8 * sizeof(unsigned long))] = {};
  auto* const set = reinterpret_cast<cpu_set_t*>(words);
  std::deque<int> cores;
  const int here = sched_getcpu();
  if (sched_getaffinity(0, sizeof(words), set) < 0) return {here};
  for (int core = 0; core < kMost; ++core) {
    if (core != here && CPU_ISSET_S(core, sizeof(words), set)) cores.push_back(core);
  }
  cores.push_back(here);
  return cores;
}

void note_reply(Line& line) {
  const auto stepped = read_stepped(line.frame());
  if (!stepped) return;
  line.core = stepped->core;
  line.seconds = stepped->seconds;
}

// Requests of which each core has one, and others wait for a core.
class Wave {
 public:
  Wave(const std::vector<Line*>& lines, double late_seconds)
      : free_(cores_of_thread()), late_seconds_(late_seconds) {
    choices_ = free_.size() + 1;
    std::copy_if(lines.begin(), lines.end(), std::back_inserter(held_),
                 [](Line* line) { return line->is_held(); });
  }

  Turns run() {
    send_held(seconds_now());
    while (!under_way_.empty()) take_in(wait());
    return turns_;
  }

 private:
  struct Request {
    Line* line;
    int core;
    double began;
    double deadline;
  };

  void send_held(double now) {
    while (!free_.empty() && !held_.empty()) {
      const int core = free_.front();
      free_.pop_front();
      Line* const line = take_for(core);
      if (line->core != core || !line->is_placed) line->place(core);
      line->core = core;
      line->send_held();
      if (line->has_trouble()) {
        free_.push_back(core);
      } else {
        under_way_.push_back({line, core, now, line->deadline});
      }
    }
  }

  // The next to be sent, rather one that was on `core` before: some of its data are in the
  // caches there.
  Line* take_for(int core) {
    const auto end = held_.begin() + static_cast<std::ptrdiff_t>(std::min(choices_, held_.size()));
    auto place = std::find_if(held_.begin(), end, [&](Line* line) { return line->core == core; });
    if (place == end) place = held_.begin();
    Line* const line = *place;
    held_.erase(place);
    return line;
  }

  // Sleeps until there is something to read, or too late to; returns the time.
  double wait() {
    double earliest = under_way_.front().deadline;
    looked_at_.clear();
    for (const Request& request : under_way_) {
      earliest = std::min(earliest, request.deadline);
      looked_at_.push_back({request.line->descriptor(), POLLIN, 0});
      if (request.line->descriptor() < 0) earliest = 0;  // closed: nobody will wake us
    }
    while (true) {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      const double now = seconds_now();
      const double left = std::clamp(earliest - now, 0.0, kLongestSeconds);
      const double whole = std::floor(left);
      const timespec timeout{static_cast<time_t>(whole), static_cast<long>((left - whole) * 1e9)};
      const int found = unlocked(
          [&] { return ppoll(looked_at_.data(), looked_at_.size(), &timeout, nullptr); });
      if (found < 0 && errno != EINTR) throw Trouble(errno);
      if (found > 0 || seconds_now() >= earliest) return seconds_now();
    }
  }

  void take_in(double now) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < under_way_.size(); ++i) {
      Request& request = under_way_[i];
      if (is_over(request, looked_at_[i].revents != 0, now)) {
        free_.push_back(request.core);
        note(request, now);
      } else {
        under_way_[kept++] = request;
      }
    }
    under_way_.resize(kept);
    send_held(now);
  }

  // Whether its reply is there, or will not come in time. What came in time counts.
  bool is_over(Request& request, bool is_readable, double now) {
    Line& line = *request.line;
    if (line.descriptor() < 0) return true;
    if (is_readable) {
      if (!line.take_in()) return true;
      request.deadline = std::max(request.deadline, now + kRestSeconds);
    }
    return now >= request.deadline;
  }

  void note(const Request& request, double now) {
    Line& line = *request.line;
    note_reply(line);
    line.core = request.core;
    if (line.seconds > 0) {
      ++turns_.timed;
      if (now - request.began - line.seconds > late_seconds_) ++turns_.late;
    }
  }

  std::deque<Line*> held_;
  std::deque<int> free_;
  std::vector<Request> under_way_;
  std::vector<pollfd> looked_at_;
  std::size_t choices_;
  double late_seconds_;
  Turns turns_;
};

}  // namespace

void exchange_at_once(const std::vector<Line*>& lines, double first_awake_seconds,
                      double awake_seconds) {
  const int here = sched_getcpu();
  std::vector<Line*> near, far;
  for (Line* line : lines) {
    if (line->is_held()) (line->core == here ? near : far).push_back(line);
  }
  const auto send = [](Line* line) {
    if (line->is_placed) line->place(-1);
    line->send_held();
  };
  std::for_each(far.begin(), far.end(), send);
  std::for_each(near.begin(), near.end(), send);
  double seconds = first_awake_seconds;
  const auto await = [&](Line* line) {
    line->await(line->deadline, seconds);
    note_reply(*line);
    seconds = awake_seconds;
  };
  std::for_each(near.begin(), near.end(), await);
  std::for_each(far.begin(), far.end(), await);
}

Turns exchange_in_turn(const std::vector<Line*>& lines, double late_seconds) {
  return Wave(lines, late_seconds).run();
}

}  // namespace compiler_gym::line
