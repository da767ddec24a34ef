// One end of a stream socket that carries frames, or requests and replies: waiting for one, awake
// or asleep, and reading it, without the interpreter in between. A pass leaves little of that in
// the caches.
// A module of its own, since who asks a worker does not load a compiler.
#pragma once

#include <cxxabi.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "nanobind/nanobind.h"

namespace compiler_gym::line {

namespace nb = nanobind;

// By the clock of Python's time.monotonic().
double seconds_now();

// How long the rest of a frame is waited for at least when its beginning is there.
inline constexpr double kRestSeconds = 50e-3;

// Sleeps until there is something to read or write, `seconds` at most; so much at a time that a
// signal which came just before is not heard too late. Returns as poll(2).
int sleep_on(pollfd* looked_at, std::size_t count, double seconds);

// A set of as many cores as the kernel can be asked about.
struct Cores {
  static constexpr int kMost = 8192;
  unsigned long words[kMost / (8 * sizeof(unsigned long))] = {};

  // Those of this thread; none where nobody can say.
  static Cores of_thread();
  std::vector<int> numbers() const;
};

// What a socket does wrong, or the clock. What Python code raises, a signal's handler for
// example, is another kind, and goes through.
struct Trouble : std::runtime_error {
  Trouble(int number, const std::string& text);
  explicit Trouble(int number);
  int number;
};

// Calls `act` without the interpreter's lock. A thread that wants it back while the interpreter
// ends is unwound, which nobody above us expects: it waits for the end of the process.
template <typename Act>
auto unlocked(const Act& act) {
  PyThreadState* const state = PyEval_SaveThread();
  const auto result = act();
  const int number = errno;
  try {
    PyEval_RestoreThread(state);
  } catch (abi::__forced_unwind&) {
    while (true) pause();
  }
  errno = number;
  return result;
}

class Line {
 public:
  explicit Line(int descriptor);

  void close() { descriptor_ = -1; }
  int descriptor() const { return descriptor_; }

  // Sends a frame. What the socket does not take at once is waited for until `deadline`.
  void send(const nb::bytes& payload, double deadline);

  bool has_ended() const;

  // The next frame, which is waited for.
  nb::bytes receive(double deadline, double awake_seconds);

  // Looks for something to read for a while, then sleeps until there is. What is there can be
  // read after the deadline too: others may have been waited for meanwhile.
  void wait(double deadline, double awake_seconds);

  // Waits for the next frame, which `receive` then returns; so it does with what goes wrong.
  void await(double deadline, double awake_seconds);

  // Takes what there is to read, and returns whether there is more to wait for.
  bool take_in();

  // Whether a part of the next frame is there.
  bool has_begun() const { return have_ > 0; }

  // The frame that was waited for; empty where there is none.
  std::string_view frame() const;
  void forget_frame() { frame_ = nb::steal<nb::bytes>(nb::handle()); }

  // Keeps a request back, to be answered within `limit` seconds after it is sent.
  void hold(nb::bytes payload, double limit);
  bool is_held() const { return held_.is_valid(); }
  // Sends it. What goes wrong comes up when the reply is received.
  void send_held();
  bool has_trouble() const { return trouble_ != 0; }

  // Lets the process at the other end run on one core only, or on all of this thread's (-1).
  // Where that is forbidden the kernel goes on to choose.
  void place(int core);

  double deadline = std::numeric_limits<double>::infinity();  // of the last request, by itself
  double limit = 0;                                           // seconds that it had
  bool awaits = false;                                        // a request was sent and not answered
  int pid = -1;                                               // the process at the other end
  int core = -1;                                              // where it was after an exchange
  bool is_placed = false;                                     // whether it is bound to that
  double seconds = 0;                                         // how long a step took in one

 private:
  bool is_readable_soon(double now, double until);
  int sleep(short events, double seconds) const;
  void fill(double deadline, double awake_seconds);
  void read();
  void finish(std::uint64_t length);
  std::uint64_t length() const;

  std::atomic<int> descriptor_;
  std::unique_ptr<char[]> buffer_;
  std::size_t have_ = 0;
  nb::bytes large_ = nb::steal<nb::bytes>(nb::handle());
  nb::bytes frame_ = nb::steal<nb::bytes>(nb::handle());
  nb::bytes held_ = nb::steal<nb::bytes>(nb::handle());
  int trouble_ = 0;
  int asleep_for_ = 0;
  int shyness_;
};

}  // namespace compiler_gym::line
