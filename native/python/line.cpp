// One end of a stream socket that carries frames: waiting for one, awake or asleep, and
// reading it, without the interpreter in between. A pass leaves little of it in the caches.
// A module of its own, since who asks a worker does not load a compiler.

#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <cxxabi.h>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include "nanobind/nanobind.h"

namespace nb = nanobind;
using namespace nb::literals;

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

// What is slept at most at a time; there are deadlines without an end.
constexpr double kLongestSeconds = 1e6;
// How long the rest of a frame is waited for at least when its beginning is there.
constexpr double kRestSeconds = 50e-3;

double seconds_now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// How often this thread had to leave its core to another.
long switches() {
  rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

// What a socket does wrong, or the clock. What Python code raises, a signal's handler for
// example, is another kind, and goes through.
struct Trouble : std::runtime_error {
  Trouble(int number, const std::string& text) : std::runtime_error(text), number(number) {}
  explicit Trouble(int number) : Trouble(number, std::strerror(number)) {}
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
  explicit Line(int descriptor) : descriptor_(descriptor), buffer_(new char[kBuffer]) {}

  void close() { descriptor_ = -1; }

  // Sends as much of a frame as the socket takes at once.
  std::size_t send(const nb::bytes& payload) {
    Length length = payload.size();
    iovec parts[2] = {{&length, kHeader}, {const_cast<char*>(payload.c_str()), payload.size()}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const ssize_t sent = sendmsg(descriptor_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (errno == EAGAIN || errno == EINTR) return 0;
    throw Trouble(errno);
  }

  bool has_ended() const {
    char next;
    const ssize_t count = recv(descriptor_, &next, 1, MSG_PEEK | MSG_DONTWAIT);
    return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
  }

  nb::bytes receive(double deadline, double awake_seconds) {
    fill(deadline, awake_seconds);
    return std::move(frame_);
  }

  // Looks for something to read for a while, then sleeps until there is. What is there can be
  // read after the deadline too: others may have been waited for meanwhile.
  void wait(double deadline, double awake_seconds) {
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
      if (left <= 0 && sleep(0) == 0) throw Trouble(ETIMEDOUT);
      if (left <= 0) return;
      const int found = unlocked([&] { return sleep(left); });
      if (found > 0) return;
      if (found < 0 && errno != EINTR) throw Trouble(errno);
    }
  }

  // What came may stay here until it is asked for; what went wrong comes up again then.
  static void receive_all(const nb::list& lines, double deadline, double first_awake_seconds,
                          double awake_seconds) {
    double seconds = first_awake_seconds;
    for (nb::handle item : lines) {
      Line& line = nb::cast<Line&>(item);
      try {
        line.fill(deadline, seconds);
      } catch (const Trouble&) {
      }
      seconds = awake_seconds;
    }
  }

 private:
  // Between two looks every other process that wants the core has it. Where others keep it for
  // milliseconds looking is a bad plan: a sleeper is woken before that. Then the next frames are
  // awaited asleep, the more of them the more often it happens.
  bool is_readable_soon(double now, double until) {
    const long before_all = switches();
    while (sleep(0) == 0) {
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
  int sleep(double seconds) const {
    const int descriptor = descriptor_;
    if (descriptor < 0) return 1;  // reading says so
    pollfd looked_at{descriptor, POLLIN, 0};
    if (seconds == 0) {
      int found;
      while ((found = poll(&looked_at, 1, 0)) < 0 && errno == EINTR) {
      }
      return found;
    }
    const double whole = std::floor(std::min(seconds, kLongestSeconds));
    const timespec left{static_cast<time_t>(whole), static_cast<long>(std::min(seconds - whole, 0.999) * 1e9)};
    return ppoll(&looked_at, 1, &left, nullptr);
  }

  void fill(double deadline, double awake_seconds) {
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
  void read() {
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

  void finish(Length length) {
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

  Length length() const {
    Length length = 0;
    if (have_ >= kHeader) std::memcpy(&length, buffer_.get(), kHeader);
    return length;
  }

  std::atomic<int> descriptor_;
  std::unique_ptr<char[]> buffer_;
  std::size_t have_ = 0;
  nb::bytes large_ = nb::steal<nb::bytes>(nb::handle());
  nb::bytes frame_ = nb::steal<nb::bytes>(nb::handle());
  int asleep_for_ = 0;
  int shyness_ = kLeastShy;
};

}  // namespace

NB_MODULE(_line, m) {
  m.doc() = "Frames over a stream socket.";
  nb::set_leak_warnings(false);  // who leaves the interpreter may have some open
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Trouble& trouble) {  // Python chooses the class by the number
      const nb::object arguments = nb::make_tuple(trouble.number, trouble.what());
      const nb::object made = nb::steal(PyObject_Call(PyExc_OSError, arguments.ptr(), nullptr));
      if (made.is_valid()) PyErr_SetObject(made.type().ptr(), made.ptr());
    }
  });
  constexpr double forever = std::numeric_limits<double>::infinity();
  nb::class_<Line>(m, "Line", "The reading and the writing of one socket's frames.")
      .def(nb::init<int>(), "descriptor"_a)
      .def("close", &Line::close, "Use the descriptor no more; it stays open.")
      .def("send_some", &Line::send, "payload"_a,
           "Send a frame, or the part of it that there is room for; return how many bytes, with "
           "the eight of the length. Raises `OSError`.")
      .def("has_ended", &Line::has_ended, "Whether the other side has gone and all of it is read.")
      .def("receive", &Line::receive, "deadline"_a = forever, "awake_seconds"_a = 0.0,
           "Return the next frame. Raises `ConnectionResetError` at the end of the stream, "
           "`TimeoutError` after `deadline`, by `time.monotonic()`, and `OSError` for what is no "
           "frame (`EPROTO`) and when `close` was called.")
      .def("wait", &Line::wait, "deadline"_a = forever, "awake_seconds"_a = 0.0,
           "Wait until there is something to read, or raise `TimeoutError`.");
  m.def("receive_all", &Line::receive_all, "lines"_a, "deadline"_a, "first_awake_seconds"_a,
        "awake_seconds"_a,
        "Wait for the next frame of each of the lines in turn, which `receive` then returns. Only "
        "what interrupts is raised: `receive` raises the rest.");
  m.def("current_core", &sched_getcpu,
        "The number of the core that this thread is on, or -1 where nobody can say.");
}
