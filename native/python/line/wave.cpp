#include "wave.h"

#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include "reply.h"

namespace compiler_gym::line {

namespace {

constexpr double kLongAgo = -std::numeric_limits<double>::infinity();
// How long is waited for what is late before the others are looked at again.
constexpr double kPatienceSeconds = 10e-3;

// Until when a reply is waited for that had `limit` seconds until `deadline`, but had to wait for
// what was `computed` before it, and shares its core with `others`.
double extended(double deadline, double limit, double computed, std::size_t others) {
  if (others == 0 || std::isinf(deadline)) return deadline + computed;
  return deadline + computed + static_cast<double>(others) * limit;
}

// The cores that this thread may use. Its own comes last: it is busy until the thread sleeps.
std::vector<int> cores_of_thread() {
  std::vector<int> cores = Cores::of_thread().numbers();
  const int here = sched_getcpu();
  cores.erase(std::remove(cores.begin(), cores.end(), here), cores.end());
  cores.push_back(here);
  return cores;
}

void note_reply(Line& line) {
  const auto stepped = read_stepped(line.frame());
  if (!stepped) return;
  line.core = stepped->core;
  line.seconds = stepped->seconds > 0 && std::isfinite(stepped->seconds) ? stepped->seconds : 0;
}

// Waits for what is late, but had to wait for those that are done and shares the cores with
// the others.
void await_among(const std::vector<Line*>& lines, Line& line) {
  const std::size_t cores = cores_of_thread().size();
  while (true) {
    double computed = 0;
    std::size_t others = 0;  // on all cores
    for (Line* other : lines) {
      if (other == &line) continue;
      others += other->take_in() ? 1 : 0;
      note_reply(*other);
      computed += other->seconds;
    }
    const double now = seconds_now();
    const double until =
        extended(line.deadline, line.limit, computed, (others + cores - 1) / cores);
    if (now >= until) return;
    line.await(std::min(until, now + kPatienceSeconds), 0);
    if (!line.take_in()) return;
  }
}

class Wave {
 public:
  Wave(const std::vector<Line*>& lines, const std::vector<double>& seconds, double share,
       double late_seconds)
      : late_seconds_(late_seconds) {
    double total = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!lines[i]->is_held()) continue;
      held_.push_back({lines[i], seconds[i]});
      total += seconds[i];
    }
    std::stable_sort(held_.begin(), held_.end(),
                     [](const Held& a, const Held& b) { return a.seconds > b.seconds; });
    for (const int number : cores_of_thread()) cores_.push_back(Core{number});
    load_at_first_ = share * total / static_cast<double>(cores_.size());
  }

  Turns run() {
    send_first();
    while (true) {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      const auto earliest = watch();
      if (!earliest) return turns_;
      const double left = *earliest - seconds_now();
      const int found =
          unlocked([&] { return sleep_on(looked_at_.data(), looked_at_.size(), left); });
      if (found < 0 && errno != EINTR) throw Trouble(errno);
      const double now = seconds_now();
      for (std::size_t i = 0; i < watched_.size(); ++i) {
        const bool is_readable = found > 0 && looked_at_[i].revents != 0;
        if (is_readable || watched_[i]->deadline() <= now) take_in(*watched_[i], now);
      }
    }
  }

 private:
  struct Held {
    Line* line;
    double seconds;
  };

  struct Request {
    Line* line;
    double deadline;
  };

  struct Core {
    int number;
    double load = 0;      // seconds that all it got are expected to take
    double began = 0;     // when it got the first of what it has
    double computed = 0;  // how long those of them took that are done
    int done = 0;
    bool has_failed = false;
    std::vector<Request> under_way = {};

    // When the last of what it has is overdue. If that was closed nobody wakes us.
    double deadline() const {
      const Request& last = under_way.back();
      return last.line->descriptor() < 0 ? kLongAgo : deadline_of(last);
    }
    double deadline_of(const Request& request) const {
      return extended(request.deadline, request.line->limit, computed, under_way.size() - 1);
    }
  };

  void send_first() {
    const double now = seconds_now();
    while (!held_.empty()) {
      Core& idlest =
          *std::min_element(cores_.begin(), cores_.end(),
                            [](const Core& a, const Core& b) { return a.load < b.load; });
      if (idlest.load > 0 && idlest.load >= load_at_first_) return;
      send_to(idlest, now);
    }
  }

  void send_to(Core& core, double now) {
    const Held next = take_for(core);
    Line& line = *next.line;
    if (line.core != core.number || !line.is_placed) line.place(core.number);
    line.core = core.number;
    line.send_held();
    if (core.under_way.empty()) core.began = now;
    core.load += std::max(next.seconds, 1e-9);
    core.under_way.push_back({&line, line.has_trouble() ? kLongAgo : line.deadline});
  }

  // The next to be sent, rather one that was on `core` before: some of its data are in the
  // caches there.
  Held take_for(const Core& core) {
    const auto choices = static_cast<std::ptrdiff_t>(std::min(cores_.size() + 1, held_.size()));
    auto place =
        std::find_if(held_.begin(), held_.begin() + choices,
                     [&](const Held& held) { return held.line->core == core.number; });
    if (place == held_.begin() + choices) place = held_.begin();
    const Held held = *place;
    held_.erase(place);
    return held;
  }

  // Looks at what each core got last: it is done when all before it are, more often than not.
  // Returns until when, or nothing if all is done.
  std::optional<double> watch() {
    watched_.clear();
    looked_at_.clear();
    std::optional<double> earliest;
    for (Core& core : cores_) {
      if (core.under_way.empty()) continue;
      watched_.push_back(&core);
      looked_at_.push_back({core.under_way.back().line->descriptor(), POLLIN, 0});
      const double deadline = core.deadline();
      if (!earliest || deadline < *earliest) earliest = deadline;
    }
    return earliest;
  }

  // Takes in what is there on `core`, and sends the next if that was all.
  void take_in(Core& core, double now) {
    remove(core, [&](Request& request) { return is_answered(request, now); });
    remove(core, [&](Request& request) { return now >= core.deadline_of(request); });
    if (!core.under_way.empty()) return;
    judge(core, now);
    if (!held_.empty()) send_to(core, now);
  }

  template <typename IsOver>
  static void remove(Core& core, const IsOver& is_over) {
    std::size_t kept = 0;
    for (Request& request : core.under_way) {
      if (is_over(request)) {
        note(core, *request.line);
      } else {
        core.under_way[kept++] = request;
      }
    }
    core.under_way.resize(kept);
  }

  // Whether the reply is there, or will never be. If it has begun it may take a moment longer.
  static bool is_answered(Request& request, double now) {
    Line& line = *request.line;
    const bool had_begun = line.has_begun();
    if (line.descriptor() < 0 || !line.take_in()) return true;
    if (!had_begun && line.has_begun()) {
      request.deadline = std::max(request.deadline, now + kRestSeconds);
    }
    return false;
  }

  static void note(Core& core, Line& line) {
    note_reply(line);
    line.core = core.number;
    core.computed += line.seconds;
    core.has_failed |= line.seconds <= 0;
    ++core.done;
  }

  // A core that was busy for much longer than its workers computed was wanted by others.
  void judge(Core& core, double now) {
    if (!core.has_failed) {
      turns_.timed += core.done;
      const double too_long = (now - core.began - core.computed) / late_seconds_;
      turns_.late += static_cast<int>(std::clamp(too_long, 0.0, static_cast<double>(core.done)));
    }
    core.computed = core.done = 0;
    core.has_failed = false;
  }

  std::deque<Held> held_;
  std::vector<Core> cores_;
  std::vector<Core*> watched_;
  std::vector<pollfd> looked_at_;
  double load_at_first_;
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
  near.insert(near.end(), far.begin(), far.end());
  double seconds = first_awake_seconds;
  for (Line* line : near) {
    line->await(line->deadline, seconds);
    if (line->take_in()) await_among(near, *line);
    note_reply(*line);
    seconds = awake_seconds;
  }
}

Turns exchange_in_turn(const std::vector<Line*>& lines, const std::vector<double>& seconds,
                       double share, double late_seconds) {
  return Wave(lines, seconds, share, late_seconds).run();
}

}  // namespace compiler_gym::line
