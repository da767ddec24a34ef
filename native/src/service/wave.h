// Requests distributed to the cores, one after the other; see exchange.h.
#pragma once

#include <poll.h>

#include <deque>
#include <optional>
#include <vector>

#include "compiler_gym/service/exchange.h"

namespace compiler_gym::service {

class Wave {
 public:
  Wave(const std::vector<Channel*>& channels, const std::vector<double>& seconds, double share,
       double late_seconds);

  // Exchange the requests that the channels hold, once.
  Turns run(Host& host);

 private:
  struct Held {
    Channel* channel;
    double seconds;
  };

  struct Request {
    Channel* channel;
    double deadline;
  };

  struct Core {
    int number;
    double load = 0;      // expected seconds of all its requests
    double began = 0;     // time at which it got the first outstanding request
    double computed = 0;  // seconds of computation of its finished requests
    int done = 0;
    bool has_failed = false;
    std::vector<Request> under_way = {};

    // The deadline of its last request. A closed channel is overdue at once, because nothing would
    // wake us.
    double deadline() const;
    double deadline_of(const Request& request) const;
    void note(Channel& channel);
    // Remove the requests for which `is_over` is true and record their replies.
    template <typename IsOver>
    void forget(const IsOver& is_over);
  };

  void send_first();
  void send_to(Core& core, double now);
  Held take_for(const Core& core);
  std::optional<double> watch();
  void take_in(Core& core, double now);
  static bool is_answered(Request& request, double now);
  void judge(Core& core, double now);

  std::deque<Held> held_;
  std::vector<Core> cores_;
  std::vector<Core*> watched_;
  std::vector<pollfd> looked_at_;
  double load_at_first_;
  double late_seconds_;
  Turns turns_;
};

}  // namespace compiler_gym::service
