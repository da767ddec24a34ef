// One end of a stream socket that carries frames, or requests and replies: it waits for a frame,
// spinning or asleep, and reads it, without the interpreter in between, whose code a pass evicts
// from the caches. It does not depend on the contents of frames, or on Python.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "compiler_gym/service/bytes.h"
#include "compiler_gym/service/host.h"

namespace compiler_gym::service {

// A frame is preceded by its length; this is the format for Python's `struct`.
inline constexpr const char* frame_header = "<Q";

// The least time to wait for the rest of a frame once its beginning has arrived; further bytes do
// not extend it.
inline constexpr double rest_seconds = 0.25;

// An error of a socket or a timeout; `number` is one of <cerrno>. Exceptions of the host, for
// example from a signal handler, have other types and pass through.
struct ChannelError : std::runtime_error {
  ChannelError(int number, const std::string& text);
  explicit ChannelError(int number);
  int number;
};

class Channel {
 public:
  // Does not own the descriptor. The host must outlive the channel.
  Channel(int descriptor, Host& host);

  void close() { descriptor_ = -1; }
  int descriptor() const { return descriptor_; }

  // Send a frame. If the socket does not accept all of it at once, wait until `deadline`.
  void send(std::string_view payload, double deadline);

  bool has_ended() const;

  // Wait for the next frame and return it.
  Bytes receive(double deadline, double awake_seconds);

  // Spin for a while, then sleep, until there are bytes to read. Available bytes can be read after
  // the deadline too, because the caller may have waited for other channels meanwhile.
  void wait(double deadline, double awake_seconds);

  // Wait for the next frame, which `receive` then returns; `receive` also throws any error.
  void await(double deadline, double awake_seconds);

  // Read the bytes that have arrived; return whether the frame is still incomplete.
  bool take_in();

  // Return whether other processes recently competed for the core on which this end was spinning.
  bool is_crowded() const;

  // Return whether a part of the next frame has arrived.
  bool has_begun() const { return have_ > 0; }

  // The frame that has arrived; empty if there is none.
  std::string_view frame() const { return frame_.view(); }

  // Store a request to send later; its reply is due within `limit` seconds after that.
  void hold(Bytes payload, double limit);
  bool is_held() const { return held_.is_valid(); }
  // Send the stored request. Errors are thrown when the reply is received.
  void send_held();
  bool has_trouble() const { return trouble_ != 0; }

  // Bind the process at the other end to one core, or to all of this thread's (-1). If that is not
  // permitted, the kernel keeps choosing.
  void place(int core);

  // Keep the process at the other end on this thread's core while either end finds its core
  // crowded: both sleep then, and one hands the core to the other. Otherwise, and after a step
  // for which a late start matters little, free it: programs that it starts share its cores.
  void settle();

  double deadline = std::numeric_limits<double>::infinity();  // of the last request alone
  double limit = 0;                                           // seconds that it had in total
  bool awaits = false;     // a request was sent and its reply is outstanding
  int pid = -1;            // the process at the other end
  int core = -1;           // its core after the last exchange
  bool is_placed = false;  // whether it is bound to that core
  bool sleeps = false;     // whether to wait without spinning
  double seconds = 0;      // duration of the step in the last exchange

 private:
  bool is_readable_soon(double now, double until);
  int sleep(short events, double seconds) const;
  void fill(double deadline, double awake_seconds);
  void read();
  void finish(std::uint64_t length);
  std::uint64_t length() const;
  Bytes make_bytes(std::size_t size);

  Host& host_;
  std::atomic<int> descriptor_;
  std::unique_ptr<char[]> buffer_;
  std::size_t have_ = 0;
  Bytes large_;
  Bytes frame_;
  Bytes held_;
  int trouble_ = 0;
  int placed_on_ = -1;
  double asleep_until_ = 0;
  double asleep_seconds_ = 0;
};

}  // namespace compiler_gym::service
