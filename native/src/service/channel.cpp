#include "compiler_gym/service/channel.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "compiler_gym/service/cores.h"
#include "waiting.h"

namespace compiler_gym::service {

namespace {

using Length = std::uint64_t;  // little-endian on the wire, like every supported machine

constexpr std::size_t header_size = sizeof(Length);
constexpr std::size_t buffer_size = std::size_t{1} << 16;
constexpr Length longest_frame = Length{1} << 30;
// Allocate this many times the bytes that have arrived, until the frame's full length is reached.
constexpr std::size_t growth = 4;
// If a yield takes longer than this and another process ran meanwhile, the core is crowded. Without
// a context switch it was an interrupt, or the host of this virtual machine.
constexpr double crowded_yield_seconds = 300e-6;
// The time without spinning after the core was found crowded. It doubles while the core stays
// crowded: each check costs the milliseconds for which the other process runs.
constexpr double least_asleep_seconds = 20e-3;
constexpr double most_asleep_seconds = 2;
// Longer steps lose little when they start after another process, and more when they share a core.
constexpr double longest_settled_seconds = 10e-3;

// The number of context switches of this thread.
long switches() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

}  // namespace

ChannelError::ChannelError(int number, const std::string& text)
    : std::runtime_error(text), number(number) {}
ChannelError::ChannelError(int number) : ChannelError(number, std::strerror(number)) {}

Channel::Channel(int descriptor, Host& host)
    : host_(host), descriptor_(descriptor), buffer_(new char[buffer_size]) {}

void Channel::send(std::string_view payload, double deadline) {
  Length length = payload.size();
  const std::size_t end = header_size + length;
  std::size_t sent = 0;
  while (true) {
    const std::size_t of_header = std::min(sent, header_size);
    iovec parts[2] = {{reinterpret_cast<char*>(&length) + of_header, header_size - of_header},
                      {const_cast<char*>(payload.data()) + (sent - of_header),
                       payload.size() - (sent - of_header)}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const ssize_t count = sendmsg(descriptor_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno != EAGAIN && errno != EINTR) throw ChannelError(errno);
    sent += count < 0 ? 0 : static_cast<std::size_t>(count);
    if (sent == end) return;
    host_.check_interrupts();
    const double left = deadline - seconds_now();
    if (left <= 0) throw ChannelError(ETIMEDOUT);
    const int found = unlocked(host_, [&] { return sleep(POLLOUT, left); });
    if (found < 0 && errno != EINTR) throw ChannelError(errno);
  }
}

bool Channel::has_ended() const {
  char next;
  const ssize_t count = recv(descriptor_, &next, 1, MSG_PEEK | MSG_DONTWAIT);
  return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
}

Bytes Channel::receive(double deadline, double awake_seconds) {
  if (const int number = std::exchange(trouble_, 0)) throw ChannelError(number);
  fill(deadline, awake_seconds);
  awaits = false;
  return std::move(frame_);
}

void Channel::wait(double deadline, double awake_seconds) {
  if (awake_seconds > 0) {
    const double now = seconds_now();
    const double until = std::min(now + awake_seconds, deadline);
    if (!sleeps && now >= asleep_until_ &&
        unlocked(host_, [&] { return is_readable_soon(now, until); })) {
      return;
    }
  }
  while (true) {
    host_.check_interrupts();
    const double left = deadline - seconds_now();
    if (left <= 0 && sleep(POLLIN, 0) == 0) throw ChannelError(ETIMEDOUT);
    if (left <= 0) return;
    const int found = unlocked(host_, [&] { return sleep(POLLIN, left); });
    if (found > 0) return;
    if (found < 0 && errno != EINTR) throw ChannelError(errno);
  }
}

void Channel::await(double deadline, double awake_seconds) {
  if (trouble_ != 0) return;
  try {
    fill(deadline, awake_seconds);
  } catch (const ChannelError&) {  // `receive` meets it again
  }
}

bool Channel::is_crowded() const { return seconds_now() < asleep_until_; }

bool Channel::take_in() {
  if (trouble_ != 0 || frame_.is_valid()) return false;
  try {
    if (have_ >= header_size) finish(length());  // repeat an earlier error
    if (!frame_.is_valid()) read();
  } catch (const ChannelError&) {
    return false;
  }
  return !frame_.is_valid();
}

void Channel::hold(Bytes payload, double limit) {
  held_ = std::move(payload);
  this->limit = limit;
  trouble_ = 0;
}

void Channel::send_held() {
  if (!held_.is_valid()) return;
  const Bytes payload = std::move(held_);
  awaits = true;
  seconds = 0;
  deadline = seconds_now() + limit;
  try {
    send(payload.view(), deadline);
  } catch (const ChannelError& trouble) {
    trouble_ = trouble.number;
  }
}

void Channel::place(int core) {
  if (has_ended()) return;  // its number may belong to another process by now
  placed_on_ = core;
  if (core >= 0) {
    if (bind_process(pid, core)) is_placed = true;
  } else if (free_process(pid)) {
    is_placed = false;
  }
}

void Channel::settle() {
  const bool is_worth = (sleeps || is_crowded()) && seconds < longest_settled_seconds;
  const int core = is_worth ? current_core() : -1;
  if (core != placed_on_ || (core < 0 && is_placed)) place(core);
}

// Between two checks, every other process that wants the core gets it. If one keeps it for
// milliseconds, spinning is a bad plan: a sleeping thread is woken sooner.
bool Channel::is_readable_soon(double now, double until) {
  const long before_all = switches();
  while (sleep(POLLIN, 0) == 0) {
    if (now > until) return false;
    sched_yield();
    const double before = now;
    now = seconds_now();
    if (now - before > crowded_yield_seconds && switches() > before_all) {
      const bool is_still_crowded = before - asleep_until_ < asleep_seconds_;
      asleep_seconds_ = is_still_crowded ? std::min(2 * asleep_seconds_, most_asleep_seconds)
                                         : least_asleep_seconds;
      asleep_until_ = now + asleep_seconds_;
      return false;
    }
  }
  return true;
}

// Does not sleep in `recv`: the kernel would also wake it when the other end reads a reply.
int Channel::sleep(short events, double seconds) const {
  const int descriptor = descriptor_;
  if (descriptor < 0) return 1;  // reading and writing report it
  pollfd looked_at{descriptor, events, 0};
  if (seconds == 0) {
    int found;
    while ((found = poll(&looked_at, 1, 0)) < 0 && errno == EINTR) {
    }
    return found;
  }
  return sleep_on(&looked_at, 1, seconds);
}

void Channel::fill(double deadline, double awake_seconds) {
  if (have_ >= header_size) finish(length());  // repeat an earlier error
  // Only the first bytes extend the deadline, once; later ones never do.
  for (bool has_waited = false; !frame_.is_valid(); has_waited = true) {
    if (has_waited && seconds_now() >= deadline) throw ChannelError(ETIMEDOUT);
    wait(deadline, awake_seconds);
    read();
    if (!has_waited) deadline = std::max(deadline, seconds_now() + rest_seconds);
  }
}

// Read the available bytes. Other threads cannot close the socket meanwhile: the host's lock is
// held.
void Channel::read() {
  char* to = buffer_.get() + have_;
  std::size_t room = buffer_size - have_;
  if (large_.is_valid()) {
    to = large_.data() + (have_ - header_size);
    room = header_size + large_.view().size() - have_;
  }
  const ssize_t count = recv(descriptor_, to, room, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count < 0) throw ChannelError(errno);
  if (count == 0) throw ChannelError(ECONNRESET);
  have_ += static_cast<std::size_t>(count);
  if (have_ >= header_size) finish(this->length());
}

void Channel::finish(Length length) {
  if (length > longest_frame) {
    throw ChannelError(EPROTO,
                       "a frame of " + std::to_string(length) + " bytes is not a valid message");
  }
  const std::size_t end = header_size + length;
  if (have_ > end) {
    throw ChannelError(EPROTO, std::to_string(have_ - end) + " unexpected bytes follow a frame");
  }
  const std::size_t arrived = have_ - header_size;
  if (have_ == end && large_.is_valid()) {
    frame_ = std::move(large_);
  } else if (have_ == end) {
    frame_ = make_bytes(length);
    std::memcpy(frame_.data(), buffer_.get() + header_size, length);
  } else if (have_ == (large_.is_valid() ? header_size + large_.view().size() : buffer_size)) {
    Bytes larger = make_bytes(std::min<std::size_t>(length, growth * arrived));
    const char* const from = large_.is_valid() ? large_.data() : buffer_.get() + header_size;
    std::memcpy(larger.data(), from, arrived);
    large_ = std::move(larger);
  }
  if (frame_.is_valid()) have_ = 0;
}

Bytes Channel::make_bytes(std::size_t size) {
  Bytes bytes = host_.make_bytes(size);
  if (!bytes.is_valid()) {
    throw ChannelError(ENOMEM, "no memory for " + std::to_string(size) + " bytes of a frame");
  }
  return bytes;
}

Length Channel::length() const {
  Length length = 0;
  if (have_ >= header_size) std::memcpy(&length, buffer_.get(), header_size);
  return length;
}

}  // namespace compiler_gym::service
