// Requests that are given to the cores in turn; see exchange.h.
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

  // Exchanges what the channels hold, once.
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
    double load = 0;      // seconds that all it got are expected to take
    double began = 0;     // when it got the first of what it has
    double computed = 0;  // how long those of them took that are done
    int done = 0;
    bool has_failed = false;
    std::vector<Request> under_way = {};

    // When the last of what it has is overdue. If that was closed nobody wakes us.
    double deadline() const;
    double deadline_of(const Request& request) const;
    void note(Channel& channel);
    // Forgets the requests for which `is_over` is true, with what is known of their replies.
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
