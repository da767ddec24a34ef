#include "line.h"

#include <dirent.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

namespace compiler_gym::line {

namespace {

using Length = std::uint64_t;  // little-endian on the wire, as on every machine this runs on

constexpr std::size_t kHeader = sizeof(Length);
constexpr std::size_t kBuffer = std::size_t{1} << 16;
constexpr Length kLongest = Length{1} << 36;
// A yield that takes longer than this, and in which the core went to somebody else, is one too
// many. Without a change of process it was an interrupt, or the host of this machine.
constexpr double kCrowdedSeconds = 300e-6;
// How many frames are awaited asleep after the core was found crowded.
constexpr int kLeastShy = 2;
constexpr int kMostShy = 256;

// What is slept at most at a time.
constexpr double kLongestSeconds = 1;

// How often this thread had to leave its core to another.
long switches() {
  rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

}  // namespace

double seconds_now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

int sleep_on(pollfd* looked_at, std::size_t count, double seconds) {
  const double left = std::clamp(seconds, 0.0, kLongestSeconds);
  const double whole = std::floor(left);
  const timespec timeout{static_cast<time_t>(whole), static_cast<long>((left - whole) * 1e9)};
  return ppoll(looked_at, count, &timeout, nullptr);
}

Cores Cores::of_thread() {
  Cores cores;
  const int size = sizeof(cores.words);
  if (sched_getaffinity(0, size, reinterpret_cast<cpu_set_t*>(cores.words)) < 0) return {};
  return cores;
}

std::vector<int> Cores::numbers() const {
  constexpr int kBits = 8 * sizeof(words[0]);
  std::vector<int> found;
  for (int word = 0; word < kMost / kBits; ++word) {
    for (unsigned long left = words[word]; left != 0; left &= left - 1) {
      found.push_back(word * kBits + std::countr_zero(left));
    }
  }
  return found;
}

Trouble::Trouble(int number, const std::string& text) : std::runtime_error(text), number(number) {}
Trouble::Trouble(int number) : Trouble(number, std::strerror(number)) {}

Line::Line(int descriptor)
    : descriptor_(descriptor), buffer_(new char[kBuffer]), shyness_(kLeastShy) {}

void Line::send(const nb::bytes& payload, double deadline) {
  Length length = payload.size();
  const std::size_t end = kHeader + length;
  std::size_t sent = 0;
  while (true) {
    const std::size_t of_header = std::min(sent, kHeader);
    iovec parts[2] = {{reinterpret_cast<char*>(&length) + of_header, kHeader - of_header},
                      {const_cast<char*>(payload.c_str()) + (sent - of_header),
                       payload.size() - (sent - of_header)}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const ssize_t count = sendmsg(descriptor_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno != EAGAIN && errno != EINTR) throw Trouble(errno);
    sent += count < 0 ? 0 : static_cast<std::size_t>(count);
    if (sent == end) return;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    const double left = deadline - seconds_now();
    if (left <= 0) throw Trouble(ETIMEDOUT);
    const int found = unlocked([&] { return sleep(POLLOUT, left); });
    if (found < 0 && errno != EINTR) throw Trouble(errno);
  }
}

bool Line::has_ended() const {
  char next;
  const ssize_t count = recv(descriptor_, &next, 1, MSG_PEEK | MSG_DONTWAIT);
  return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
}

nb::bytes Line::receive(double deadline, double awake_seconds) {
  if (const int number = std::exchange(trouble_, 0)) throw Trouble(number);
  fill(deadline, awake_seconds);
  awaits = false;
  return std::move(frame_);
}

void Line::wait(double deadline, double awake_seconds) {
  if (awake_seconds > 0) {
    if (asleep_for_ > 0) {
      --asleep_for_;
    } else {
      const double now = seconds_now();
      const double until = std::min(now + awake_seconds, deadline);
      if (unlocked([&] { return is_readable_soon(now, until); })) return;
    }
  }
  while (true) {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    const double left = deadline - seconds_now();
    if (left <= 0 && sleep(POLLIN, 0) == 0) throw Trouble(ETIMEDOUT);
    if (left <= 0) return;
    const int found = unlocked([&] { return sleep(POLLIN, left); });
    if (found > 0) return;
    if (found < 0 && errno != EINTR) throw Trouble(errno);
  }
}

void Line::await(double deadline, double awake_seconds) {
  if (trouble_ != 0) return;
  try {
    fill(deadline, awake_seconds);
  } catch (const Trouble&) {
  }
}

bool Line::take_in() {
  if (trouble_ != 0 || frame_.is_valid()) return false;
  try {
    if (have_ >= kHeader) finish(length());  // what was wrong still is
    if (!frame_.is_valid()) read();
  } catch (const Trouble&) {
    return false;
  }
  return !frame_.is_valid();
}

std::string_view Line::frame() const {
  return frame_.is_valid() ? std::string_view(frame_.c_str(), frame_.size()) : std::string_view();
}

void Line::hold(nb::bytes payload, double limit) {
  held_ = std::move(payload);
  this->limit = limit;
  trouble_ = 0;
}

void Line::send_held() {
  if (!held_.is_valid()) return;
  const nb::bytes payload = std::move(held_);
  awaits = true;
  seconds = 0;
  deadline = seconds_now() + limit;
  try {
    send(payload, deadline);
  } catch (const Trouble& trouble) {
    trouble_ = trouble.number;
  }
}

void Line::place(int core) {
  if (has_ended()) return;  // its number may be another process's by now
  Cores cores;
  auto* const set = reinterpret_cast<cpu_set_t*>(cores.words);
  if (core >= 0 && core < Cores::kMost) {
    CPU_SET_S(core, sizeof(cores.words), set);
    if (sched_setaffinity(pid, sizeof(cores.words), set) == 0) is_placed = true;
    return;
  }
  cores = Cores::of_thread();
  // Threads that it started meanwhile have its one core.
  const std::string path = "/proc/" + std::to_string(pid) + "/task";
  bool is_free = false;
  if (DIR* const tasks = opendir(path.c_str())) {
    while (const dirent* task = readdir(tasks)) {
      const int number = std::atoi(task->d_name);
      if (number > 0 && sched_setaffinity(number, sizeof(cores.words), set) == 0) is_free = true;
    }
    closedir(tasks);
  }
  if (is_free) is_placed = false;
}

// Between two looks every other process that wants the core has it. Where others keep it for
// milliseconds looking is a bad plan: a sleeper is woken before that. Then the next frames are
// awaited asleep, the more of them the more often it happens.
bool Line::is_readable_soon(double now, double until) {
  const long before_all = switches();
  while (sleep(POLLIN, 0) == 0) {
    if (now > until) return false;
    sched_yield();
    const double before = now;
    now = seconds_now();
    if (now - before > kCrowdedSeconds && switches() > before_all) {
      shyness_ = std::min(2 * shyness_, kMostShy);
      asleep_for_ = shyness_;
      return false;
    }
  }
  shyness_ = std::max(shyness_ / 2, kLeastShy);
  return true;
}

// Not in `recv`: the kernel wakes who sleeps there when a reply is read, too.
int Line::sleep(short events, double seconds) const {
  const int descriptor = descriptor_;
  if (descriptor < 0) return 1;  // reading and writing say so
  pollfd looked_at{descriptor, events, 0};
  if (seconds == 0) {
    int found;
    while ((found = poll(&looked_at, 1, 0)) < 0 && errno == EINTR) {
    }
    return found;
  }
  return sleep_on(&looked_at, 1, seconds);
}

void Line::fill(double deadline, double awake_seconds) {
  if (have_ >= kHeader) finish(length());  // what was wrong still is
  while (!frame_.is_valid()) {
    const bool has_begun = have_ > 0;
    wait(deadline, awake_seconds);
    read();
    if (!has_begun && !frame_.is_valid()) {
      deadline = std::max(deadline, seconds_now() + kRestSeconds);
    }
  }
}

// Takes what is there. Others of this process cannot close the socket meanwhile: the
// interpreter's lock is held.
void Line::read() {
  const Length length = this->length();
  char* to = buffer_.get() + have_;
  std::size_t room = kBuffer - have_;
  if (large_.is_valid()) {
    to = PyBytes_AS_STRING(large_.ptr()) + (have_ - kHeader);
    room = kHeader + length - have_;
  }
  const ssize_t count = recv(descriptor_, to, room, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count < 0) throw Trouble(errno);
  if (count == 0) throw Trouble(ECONNRESET);
  have_ += static_cast<std::size_t>(count);
  if (have_ >= kHeader) finish(this->length());
}

void Line::finish(Length length) {
  if (length > kLongest) {
    throw Trouble(EPROTO,
                  "a frame of " + std::to_string(length) + " bytes is not a message of ours");
  }
  const std::size_t end = kHeader + length;
  if (have_ > end) {
    throw Trouble(EPROTO, std::to_string(have_ - end) + " bytes follow a frame unasked");
  }
  if (large_.is_valid()) {
    if (have_ == end) frame_ = std::move(large_);
  } else if (have_ == end) {
    frame_ = nb::bytes(buffer_.get() + kHeader, length);
  } else if (end > kBuffer) {
    large_ = nb::steal<nb::bytes>(
        PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(length)));
    if (!large_.is_valid()) throw nb::python_error();
    std::memcpy(PyBytes_AS_STRING(large_.ptr()), buffer_.get() + kHeader, have_ - kHeader);
  }
  if (frame_.is_valid()) have_ = 0;
}

Length Line::length() const {
  Length length = 0;
  if (have_ >= kHeader) std::memcpy(&length, buffer_.get(), kHeader);
  return length;
}

}  // namespace compiler_gym::line
