// One end of a stream socket that carries frames, or requests and replies: waiting for one, awake
// or asleep, and reading it, without the interpreter in between. A pass leaves little of that in
// the caches. It does not know what it carries, and nothing of Python.
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

// The length of a frame goes before it, in the words of Python's `struct`.
inline constexpr const char* frame_header = "<Q";

// How long the rest of a frame is waited for at least when its beginning is there; no bytes of it
// make that any longer.
inline constexpr double rest_seconds = 0.25;

// What a socket does wrong, or the clock; `number` is one of <cerrno>. What a host throws, from a
// signal's handler for example, is another kind, and goes through.
struct ChannelError : std::runtime_error {
  ChannelError(int number, const std::string& text);
  explicit ChannelError(int number);
  int number;
};

class Channel {
 public:
  // Does not own the descriptor. The host outlives the channel.
  Channel(int descriptor, Host& host);

  void close() { descriptor_ = -1; }
  int descriptor() const { return descriptor_; }

  // Sends a frame. What the socket does not take at once is waited for until `deadline`.
  void send(std::string_view payload, double deadline);

  bool has_ended() const;

  // The next frame, which is waited for.
  Bytes receive(double deadline, double awake_seconds);

  // Looks for something to read for a while, then sleeps until there is. What is there can be
  // read after the deadline too: others may have been waited for meanwhile.
  void wait(double deadline, double awake_seconds);

  // Waits for the next frame, which `receive` then returns; so it does with what goes wrong.
  void await(double deadline, double awake_seconds);

  // Takes what there is to read, and returns whether there is more to wait for.
  bool take_in();

  // Whether other processes lately wanted the core on which this end looked for a frame.
  bool is_crowded() const;

  // Whether a part of the next frame is there.
  bool has_begun() const { return have_ > 0; }

  // The frame that was waited for; empty where there is none.
  std::string_view frame() const { return frame_.view(); }

  // Keeps a request back, to be answered within `limit` seconds after it is sent.
  void hold(Bytes payload, double limit);
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
  bool sleeps = false;                                        // whether to wait without looking
  double seconds = 0;                                         // how long a step took in one

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
  double asleep_until_ = 0;
  double asleep_seconds_ = 0;
};

}  // namespace compiler_gym::service
